"""The built browser app: which file answers a request, and how it is labelled."""

import functools
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mobilevos.errors import InputError

FOLDER = Path(__file__).parents[1] / "web"

# The system's own tables differ from machine to machine; browsers refuse scripts and WebAssembly of a wrong type.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".webm": "video/webm",
    ".mp4": "video/mp4",
    ".txt": "text/plain; charset=utf-8",
}
BINARY = "application/octet-stream"
"""Weights, graphs, and whatever else has no type of its own."""
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Endings of precompressed files, the better first."""
FOREVER = "public, max-age=31536000, immutable"
"""For what the build names by its content: another content has another name."""
ASK_FIRST = "no-cache"
"""For all else: kept, but asked for again each time, so that an updated app is seen at once."""


@dataclass(frozen=True)
class Answer:
    """A file to be sent."""

    path: Path
    content_type: str
    encoding: str | None
    etag: str
    cache_control: str


class AppFiles:
    """The files below one folder, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def find(self, target: str, accept_encoding: str = "") -> Answer | None:
        """The answer to a request for `target` (path and query, as the browser sends it), or None.

        A precompressed file beside the real one is taken where the browser accepts it.
        """
        name = unquote(urlsplit(target).path).lstrip("/") or "index.html"
        path = self._inside(name)
        if path is None:
            return None
        accepted = _accepted(accept_encoding)
        encoding = next((e for e, end in ENCODINGS.items() if e in accepted and self._inside(name + end)), None)
        sent = path.with_name(path.name + ENCODINGS[encoding]) if encoding else path
        stat = sent.stat()
        return Answer(
            path=sent,
            content_type=TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or BINARY,
            encoding=encoding,
            etag=f'"{_digest(sent, stat.st_mtime_ns, stat.st_size)}"',
            cache_control=FOREVER if name.startswith("assets/") else ASK_FIRST,
        )

    def _inside(self, name: str) -> Path | None:
        """The file of that name, if it is one and really lies below the folder."""
        try:
            path = (self.folder / name).resolve()
            return path if path.is_relative_to(self.folder) and path.is_file() else None
        except (OSError, ValueError):  # a name too long, or with a null character
            return None


def built_app(folder: Path = FOLDER) -> AppFiles:
    """The app that came with the package."""
    if not (folder / "index.html").is_file():
        raise InputError(
            "the browser app is not built into this install; `make web` in the source folder builds it (needs Node.js)"
        )
    return AppFiles(folder)


def _accepted(header: str) -> set[str]:
    """The encodings an Accept-Encoding header names, without those it weighs with 0."""
    accepted = set()
    for item in header.lower().split(","):
        name, _, parameters = item.partition(";")
        weight = parameters.strip().removeprefix("q=").strip()
        if not (weight and weight.strip("0.") == ""):
            accepted.add(name.strip())
    return accepted


@functools.lru_cache(maxsize=1024)
def _digest(path: Path, modified: int, size: int) -> str:
    """Of the content; `modified` and `size` tell the cache when it has changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
