"""mobilevos models"""

from __future__ import annotations


def models() -> None:
    """List the shipped models."""
    from rich.console import Console
    from rich.table import Table

    from mobilevos.weights import shipped

    table = Table("name", "parameters", "J&F", "licence", "sha256 of the weights")
    for model in shipped().values():
        weights = model.sha256.get(f"{model.name}.safetensors") or model.sha256[f"{model.name}.onnx"]
        table.add_row(
            model.name, f"{model.parameters / 1e6:.2f} M", f"{model.j_and_f:.3f}", model.licence, weights[:16]
        )
    Console().print(table)
