"""mobilevos import-stcn"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_stcn(
    file: Annotated[Path, typer.Argument(help="The authors' file, such as stcn.pth.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Our checkpoint.")] = Path("stcn.safetensors"),
    top_k: Annotated[
        int,
        typer.Option(help="Memory positions that are read in use; 0 reads all, the authors evaluate with 20.", min=0),
    ] = 0,
) -> None:
    """Take over the published weights of STCN, the teacher: a checkpoint to distil from or to evaluate."""
    from mobilevos.cli.targets import check_file
    from mobilevos.model.checkpoint import digest, save_checkpoint
    from mobilevos.model.import_stcn import import_stcn as read
    from mobilevos.model.network import parameter_count

    check_file(output)
    network = read(file, top_k or None)
    save_checkpoint(output, network, notes={"imported": file.name, "sha256": digest(file)})
    print(
        f"{output}: STCN, {parameter_count(network) / 1e6:.1f} M parameters; teacher.checkpoint={output} learns from it"
    )
