"""A folder that looks like the built app."""

import gzip
from pathlib import Path

PAGE = b"<!doctype html><title>app</title>"
SCRIPT = b"console.log('app')\n" * 50
SMALLER = b"as if brotli had made it"
WASM = b"\0asm\1\0\0\0"


def built_folder(parent: Path) -> Path:
    """index.html and sw.js plain; a script with .br and .gz; WebAssembly; weights; and a secret beside the folder."""
    (parent / "secret.txt").write_text("not for the browser")
    folder = parent / "web"
    (folder / "assets").mkdir(parents=True)
    (folder / "model").mkdir()
    (folder / "index.html").write_bytes(PAGE)
    (folder / "sw.js").write_bytes(b"// worker")
    (folder / "manifest.webmanifest").write_bytes(b"{}")
    (folder / "assets" / "main-1a2b.js").write_bytes(SCRIPT)
    (folder / "assets" / "main-1a2b.js.br").write_bytes(SMALLER)
    (folder / "assets" / "main-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT, mtime=0))
    (folder / "assets" / "engine-3c4d.wasm").write_bytes(WASM)
    (folder / "model" / "weights.bin").write_bytes(bytes(range(256)))
    (folder / "model" / "head.tflite").write_bytes(b"TFL3")
    return folder
