"""Makes a `mobilenetv2-lite` of a `mobilenetv2` that was trained with and without its ASPP (`bypass` of a recipe).

python -m tools.strip runs/mobile-b/last.safetensors runs/mobile-b/lite.safetensors
"""

from __future__ import annotations

import json
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, network_options, read_checkpoint, save_checkpoint

ASPP = "decoder.aspp."


def strip(checkpoint: Path, output: Path) -> None:
    """Write the network of a checkpoint without its ASPP."""
    metadata, _ = read_checkpoint(checkpoint)
    recipe, notes = json.loads(metadata["recipe"]), json.loads(metadata["notes"])
    if metadata["variant"] != "mobilenetv2" or not recipe.get("bypass"):
        raise InputError(f"expected a 'mobilenetv2' that was trained with bypass, got {str(checkpoint)!r}")
    network = load_checkpoint(checkpoint)
    lite = build("mobilenetv2-lite", **network_options(network))
    lite.load_state_dict({name: tensor for name, tensor in network.state_dict().items() if not name.startswith(ASPP)})
    # what was measured was measured with it
    kept = {name: note for name, note in notes.items() if name not in ("j_and_f", "clips")}
    save_checkpoint(output, lite, recipe=recipe | {"model": lite.variant}, notes=kept)


if __name__ == "__main__":
    import typer

    typer.run(strip)
