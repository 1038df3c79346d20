"""A model for Label Studio: draw a box once, it is followed; click on a picture, get a brush stroke. No GPU needed.

    mobilevos label-studio --files DATA

and its address, http://localhost:9090, under Settings, Model. `Backend` does the work, `serve` gives it Label Studio's
interface for models (`/predict`, `/setup`, `/health`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mobilevos.arrays import Bits
from mobilevos.errors import InputError
from mobilevos.media.label_studio import brush_code
from mobilevos.media.video import open_source
from mobilevos.pipeline.follow import MarkFollower
from mobilevos.pipeline.marks import FrameMarks, Prompt
from mobilevos.pipeline.refine import by_network
from mobilevos.tracking import Tracker
from mobilevos.tracking.tracker import MOST_OBJECTS
from mobilevos.version import VERSION

MODEL = f"mobilevos {VERSION}"
OFF_BY = 0.4
"""Per cent of the frame by which a box between two keyframes may be off, so that there are few to move by hand."""
LARGEST = 64 << 20
"""Bytes of a request."""

Box = tuple[float, float, float, float]
"""x, y, width and height in per cent, as Label Studio counts."""


@dataclass(frozen=True)
class Controls:
    """What a project can draw, by the names of its tags."""

    media: str
    """The field of a task with the address of its video or picture."""
    boxes: tuple[str, str] | None
    """VideoRectangle, and what it is drawn on."""
    brush: tuple[str, str] | None
    """BrushLabels, and what it is drawn on."""


def read_controls(config: str) -> Controls:
    """From a project's labelling set-up."""
    try:
        tags = list(ElementTree.fromstring(config).iter())
    except ElementTree.ParseError as error:
        raise InputError(f"the labelling set-up cannot be read ({error})") from error
    found = {tag.tag: (tag.get("name", ""), tag.get("toName", "")) for tag in tags if tag.get("toName")}
    boxes, brush = found.get("VideoRectangle"), found.get("BrushLabels")
    drawn_on = (boxes or brush or ("", ""))[1]
    media = next((tag.get("value", "").lstrip("$") for tag in tags if drawn_on and tag.get("name") == drawn_on), "")
    if not media:
        raise InputError("expected VideoRectangle on a Video, or BrushLabels on an Image, in the labelling set-up")
    return Controls(media, boxes, brush)


@dataclass
class Files:
    """Where the videos and pictures of tasks are."""

    root: Path | None = None
    """Folder of Label Studio's local files."""
    url: str = "http://localhost:8080"
    """Of Label Studio itself, for what was uploaded to it."""
    token: str = ""
    kept: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="mobilevos-label-studio-")))
    """What was fetched."""

    def find(self, address: str) -> Path:
        """A file by the address that a task has."""
        parts = urllib.parse.urlsplit(address)
        if parts.path.startswith("/data/local-files"):
            name = urllib.parse.parse_qs(parts.query).get("d", [""])[0]
            if self.root is None:
                raise InputError(f"{name} is a local file: say where they are with --files")
            path = (self.root / name).resolve()
            if not path.is_relative_to(self.root.resolve()) or not path.is_file():
                raise InputError(f"there is no file {name} below {self.root}")
            return path
        if parts.scheme not in ("", "http", "https"):
            raise InputError(f"expected the address of a file in Label Studio or on the web, got {address}")
        return self._fetched(urllib.parse.urljoin(self.url, address))

    def _fetched(self, url: str) -> Path:
        suffix = Path(urllib.parse.urlsplit(url).path).suffix
        path = self.kept / (hashlib.sha256(url.encode()).hexdigest()[:24] + suffix)
        if path.exists():
            return path
        request = urllib.request.Request(url)
        if self.token and urllib.parse.urlsplit(url).netloc == urllib.parse.urlsplit(self.url).netloc:
            request.add_header("Authorization", f"Token {self.token}")
        try:
            with (
                urllib.request.urlopen(request, timeout=60) as answer,
                tempfile.NamedTemporaryFile(dir=self.kept, delete=False) as part,
            ):
                shutil.copyfileobj(answer, part)
        except (urllib.error.URLError, OSError) as error:
            hint = ", and perhaps a token (--token)" if isinstance(error, urllib.error.HTTPError) else ""
            raise InputError(f"cannot fetch {url} ({error}); it takes Label Studio's address (--url){hint}") from error
        Path(part.name).rename(path)
        return path


class Backend:
    """Answers requests for predictions, one at a time."""

    def __init__(self, tracker: Tracker, files: Files) -> None:
        self.tracker, self.files = tracker, files
        self._lock = threading.Lock()

    def predict(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What Label Studio's `/predict` is answered with."""
        controls = read_controls(str(request.get("label_config") or ""))
        context = ((request.get("params") or {}).get("context") or {}).get("result") or []
        with self._lock:
            return {"results": [self._task(task, controls, context) for task in request.get("tasks") or []]}

    def _task(self, task: Mapping[str, Any], controls: Controls, drawn: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        # without something drawn there is nothing to follow: a task that is only looked at gets no prediction
        result: list[dict[str, Any]] = []
        if drawn:
            address = (task.get("data") or {}).get(controls.media)
            if not isinstance(address, str):
                raise InputError(f"the task has no {controls.media}")
            path = self.files.find(address)
            result = self._follow(path, controls, drawn) if controls.boxes else self._brush(path, controls, drawn)
        scores = [part["score"] for part in result]
        return {"result": result, "model_version": MODEL, "score": min(scores, default=0.0)}

    def _follow(self, path: Path, controls: Controls, drawn: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Boxes of a video, from the keyframes that were drawn to its end."""
        regions = [region for region in drawn if region.get("type") == "videorectangle"][:MOST_OBJECTS]
        with open_source(path) as source:
            size = source.info.width, source.info.height
            marks: dict[int, dict[int, Prompt]] = {}
            for identity, region in enumerate(regions, 1):
                for key in region["value"].get("sequence") or []:
                    box = _pixels(key, size)
                    if key.get("enabled", True) and box:
                        marks.setdefault(int(key["frame"]) - 1, {})[identity] = Prompt(box)
            if not marks:
                return []
            follower = MarkFollower(
                self.tracker,
                {frame: FrameMarks(prompts=prompts) for frame, prompts in marks.items()},
                by_network(self.tracker),
            )
            tracks: dict[int, dict[int, Box]] = {identity: {} for identity in range(1, len(regions) + 1)}
            scores: dict[int, float] = {}
            count, last = 0, 0.0
            for frame in source:
                count, last = frame.index + 1, float(frame.time)
                outcome = follower.take(frame.index, frame.rgb)
                if not outcome.confidence:
                    continue
                ids = outcome.mask(frame.rgb)
                for identity, value in outcome.confidence.items():
                    place = _box(ids == identity)
                    if place and value > 0:
                        tracks[identity][frame.index] = place
                        scores[identity] = min(value, scores.get(identity, 1.0))
        return [
            {
                "id": region.get("id"),
                "type": "videorectangle",
                "from_name": controls.boxes[0] if controls.boxes else "",
                "to_name": controls.boxes[1] if controls.boxes else "",
                "score": round(float(scores[identity]), 4),
                "value": {
                    **{key: value for key, value in region["value"].items() if key != "sequence"},
                    "framesCount": region["value"].get("framesCount") or count,
                    "duration": region["value"].get("duration") or last,
                    "sequence": sequence(tracks[identity], (count - 1) / last if last else 25.0),
                },
            }
            for identity, region in enumerate(regions, 1)
            if tracks[identity]
        ]

    def _brush(self, path: Path, controls: Controls, drawn: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """A stroke of a picture, from clicks and boxes that were drawn with the smart tools."""
        with open_source(path) as source:
            frame = next(iter(source)).rgb
        height, width = frame.shape[:2]
        on: list[tuple[int, int]] = []
        off: list[tuple[int, int]] = []
        box, labels = None, ["object"]
        for part in drawn:
            value = part["value"]
            labels = next(
                (value[kind] for kind in ("brushlabels", "keypointlabels", "rectanglelabels") if kind in value), labels
            )
            if part.get("type", "").startswith("keypoint"):
                x, y = (min(int(value[axis] / 100 * side), side - 1) for axis, side in (("x", width), ("y", height)))
                (on if part.get("is_positive", True) else off).append((x, y))
            elif part.get("type", "").startswith("rectangle"):
                box = _pixels(value, (width, height))
        if not on and not box:
            return []
        guess = by_network(self.tracker)(frame, Prompt(box, tuple(on), tuple(off)))
        return [
            {
                "type": "brushlabels",
                "from_name": controls.brush[0] if controls.brush else "",
                "to_name": controls.brush[1] if controls.brush else "",
                "original_width": width,
                "original_height": height,
                "image_rotation": 0,
                "score": round(float(guess.confidence), 4),
                "value": {"format": "rle", "rle": brush_code(guess.mask), "brushlabels": labels},
            }
        ]


def _pixels(value: Mapping[str, Any], size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """x, y, w, h of a box inside of the picture; None where nothing of it is."""
    left, top = (float(value[name]) / 100 * side for name, side in zip("xy", size, strict=True))
    spans = zip((left, top), ("width", "height"), size, strict=True)
    right, bottom = (begin + float(value[name]) / 100 * side for begin, name, side in spans)
    x, y = max(0, round(left)), max(0, round(top))
    w, h = min(size[0], round(right)) - x, min(size[1], round(bottom)) - y
    return (x, y, w, h) if w > 0 and h > 0 else None


def _box(mask: Bits) -> Box | None:
    if not mask.any():
        return None
    x, y, w, h = cv2.boundingRect(mask.astype(np.uint8))
    height, width = mask.shape
    return 100 * x / width, 100 * y / height, 100 * w / width, 100 * h / height


def sequence(track: Mapping[int, Box], rate: float) -> list[dict[str, Any]]:
    """Keyframes of {frame: box}: as few as give all boxes, to `OFF_BY`; a gap is one that hides what follows it."""
    keys: list[dict[str, Any]] = []
    frames = sorted(track)
    ends = [i for i, frame in enumerate(frames) if i + 1 == len(frames) or frames[i + 1] != frame + 1]
    begin = 0
    for end in ends:
        run = frames[begin : end + 1]
        kept = _kept(np.array([track[frame] for frame in run]))
        for i in kept:
            x, y, width, height = (round(number, 3) for number in track[run[i]])
            hides = i == kept[-1] and end + 1 < len(frames)
            keys.append(
                {
                    "frame": run[i] + 1,
                    "enabled": not hides,
                    "rotation": 0,
                    "x": x,
                    "y": y,
                    "width": width,
                    "height": height,
                    "time": round(run[i] / rate, 6),
                }
            )
        begin = end + 1
    return keys


def _kept(boxes: np.ndarray) -> list[int]:
    """Which of boxes (T, 4) are needed, so that straight lines between them give the others."""
    kept, waiting = {0, len(boxes) - 1}, [(0, len(boxes) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        share = np.linspace(0, 1, last - first + 1)[:, None]
        off = np.abs(boxes[first : last + 1] - (boxes[first] + share * (boxes[last] - boxes[first]))).max(1)
        worst = first + int(off.argmax())
        if off.max() > OFF_BY:
            kept.add(worst)
            waiting += [(first, worst), (worst, last)]
    return sorted(kept)


class Server(ThreadingHTTPServer):
    """Label Studio's interface for models."""

    daemon_threads = True

    def __init__(self, backend: Backend, host: str, port: int) -> None:
        try:
            super().__init__((host, port), Handler)
        except OSError as error:
            raise InputError(f"cannot serve on {host}:{port} ({error.strerror})") from error
        self.backend = backend


class Handler(BaseHTTPRequestHandler):
    """Answers with JSON."""

    server: Server
    server_version = "mobilevos"
    sys_version = ""

    def do_GET(self) -> None:
        up = {"status": "UP", "model_class": "MobileVOS"}
        known: dict[str, dict[str, Any]] = {"/": up, "/health": up, "/versions": {"versions": [MODEL]}}
        answer = known.get(urllib.parse.urlsplit(self.path).path)
        self._answer(answer or {"error": "not found"}, HTTPStatus.OK if answer else HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        try:
            request = self._request()
        except (ValueError, InputError) as error:
            self._answer({"error": f"expected a request in JSON ({error})"}, HTTPStatus.BAD_REQUEST)
            return
        path = urllib.parse.urlsplit(self.path).path
        if path == "/setup":
            self._answer({"model_version": MODEL})
        elif path in ("/webhook", "/train"):  # it does not learn from what is drawn here
            self._answer({})
        elif path != "/predict":
            self._answer({"error": "not found"}, HTTPStatus.NOT_FOUND)
        else:
            try:
                self._answer(self.server.backend.predict(request))
            except InputError as error:
                self._answer({"error": str(error)}, HTTPStatus.BAD_REQUEST)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                said = f"the request is not as Label Studio makes them ({type(error).__name__}: {error})"
                self._answer({"error": said}, HTTPStatus.BAD_REQUEST)

    def _request(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST:
            raise InputError(f"{length} bytes are too many")
        request = json.loads(self.rfile.read(length) or b"{}")
        if not isinstance(request, dict):
            raise InputError("it is no object")
        return request

    def _answer(self, content: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: Label Studio shows what went wrong."""
