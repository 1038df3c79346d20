"""The model for Label Studio, asked over HTTP as Label Studio asks."""

from __future__ import annotations

import importlib.util
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.integrations.label_studio import OFF_BY, Backend, Files, Server, read_controls, sequence
from tests.pipeline.colours import squares, tracker, write_clip

COUNT = 12

VIDEO = """<View>
  <Labels name="tag" toName="film"><Label value="square"/></Labels>
  <Video name="film" value="$movie"/>
  <VideoRectangle name="box" toName="film"/>
</View>"""
PICTURE = """<View>
  <Image name="image" value="$image"/>
  <BrushLabels name="brush" toName="image"><Label value="square"/></BrushLabels>
  <KeyPointLabels name="point" toName="image" smart="true"><Label value="square"/></KeyPointLabels>
</View>"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    write_clip(tmp_path / "clip.mkv", COUNT)
    cv2.imwrite(str(tmp_path / "one.png"), next(squares(1))[0][..., ::-1])
    with Server(Backend(tracker(), Files(tmp_path)), "127.0.0.1", 0) as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(server: Server, path: str, content: object = None) -> tuple[int, Any]:
    data = None if content is None else content if isinstance(content, bytes) else json.dumps(content).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}{path}", data)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def box_of(mask: np.ndarray) -> dict[str, float]:
    ys, xs = np.nonzero(mask)
    height, width = mask.shape
    return {
        "x": 100 * xs.min() / width,
        "y": 100 * ys.min() / height,
        "width": 100 * (xs.max() + 1 - xs.min()) / width,
        "height": 100 * (ys.max() + 1 - ys.min()) / height,
    }


def region(identity: int, frame: int, ids: np.ndarray) -> dict[str, Any]:
    key = {"frame": frame + 1, "enabled": True, "rotation": 0, **box_of(ids == identity), "time": frame / 25}
    value = {"framesCount": COUNT, "duration": COUNT / 25, "sequence": [key], "labels": ["square"]}
    return {"id": f"r{identity}", "type": "videorectangle", "from_name": "box", "to_name": "film", "value": value}


def request_for(regions: list[dict[str, Any]], name: str = "clip.mkv") -> dict[str, Any]:
    task = {"id": 1, "data": {"movie": f"/data/local-files/?d={name}"}}
    return {"tasks": [task], "label_config": VIDEO, "params": {"context": {"result": regions}}}


def shown(keys: list[dict[str, Any]], frame: int) -> list[float] | None:
    """The box of a frame as Label Studio shows it: on a straight line between keyframes, nothing after a hiding one."""
    names = ("x", "y", "width", "height")
    before = [key for key in keys if key["frame"] <= frame + 1]
    after = [key for key in keys if key["frame"] >= frame + 1]
    if not before:
        return None
    if before[-1]["frame"] == frame + 1:
        return [before[-1][name] for name in names]
    if not before[-1]["enabled"]:
        return None
    if not after:
        return [before[-1][name] for name in names]
    first, last = before[-1], after[0]
    share = (frame + 1 - first["frame"]) / (last["frame"] - first["frame"])
    return [first[name] + share * (last[name] - first[name]) for name in names]


def test_it_says_that_it_is_there(server: Server) -> None:
    assert ask(server, "/health") == (200, {"status": "UP", "model_class": "MobileVOS"})
    assert ask(server, "/")[0] == 200
    code, said = ask(server, "/setup", {"project": "1", "schema": VIDEO})
    assert (code, said["model_version"][:9]) == (200, "mobilevos")
    assert ask(server, "/nowhere")[0] == ask(server, "/nowhere", {})[0] == 404
    assert ask(server, "/webhook", {"action": "ANNOTATION_CREATED"}) == (200, {})


def test_boxes_are_followed_through_the_video(server: Server) -> None:
    truth = [ids for _, ids in squares(COUNT)]
    code, said = ask(server, "/predict", request_for([region(1, 0, truth[0]), region(2, 3, truth[3])]))
    assert code == 200
    first, second = said["results"][0]["result"]
    assert (first["id"], first["type"], first["from_name"], first["to_name"]) == ("r1", "videorectangle", "box", "film")
    assert first["value"]["labels"] == ["square"]
    assert 0 < said["results"][0]["score"] <= 1
    for identity, result, begin in ((1, first, 0), (2, second, 3)):
        keys = result["value"]["sequence"]
        assert len(keys) < COUNT
        assert [key["time"] for key in keys] == pytest.approx([(key["frame"] - 1) / 25 for key in keys], abs=1e-3)
        assert shown(keys, begin - 1) is None
        for frame in range(begin, COUNT):
            there = shown(keys, frame)
            assert there is not None
            assert there == pytest.approx(list(box_of(truth[frame] == identity).values()), abs=3)


def test_a_task_that_is_only_looked_at_gets_nothing(server: Server) -> None:
    code, said = ask(server, "/predict", {**request_for([]), "params": {}})
    assert (code, said["results"][0]["result"]) == (200, [])


def test_a_click_becomes_a_stroke(server: Server) -> None:
    _, ids = next(squares(1))
    ys, xs = np.nonzero(ids == 1)
    height, width = ids.shape
    point = {"x": 100 * xs.mean() / width, "y": 100 * ys.mean() / height, "width": 0.5, "keypointlabels": ["square"]}
    click = {"type": "keypointlabels", "is_positive": True, "value": point}
    task = {"id": 2, "data": {"image": "/data/local-files/?d=one.png"}}
    asked = {"tasks": [task], "label_config": PICTURE, "params": {"context": {"result": [click]}}}
    code, said = ask(server, "/predict", asked)
    assert code == 200
    (stroke,) = said["results"][0]["result"]
    assert (stroke["type"], stroke["from_name"], stroke["value"]["format"]) == ("brushlabels", "brush", "rle")
    assert stroke["value"]["brushlabels"] == ["square"]
    assert (stroke["original_width"], stroke["original_height"]) == (width, height)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label_config": "<View>"}, "cannot be read"),
        ({"label_config": "<View/>"}, "expected VideoRectangle"),
        ({"tasks": [{"data": {}}]}, "no movie"),
        ({"tasks": [{"data": {"movie": "/data/local-files/?d=none.mp4"}}]}, "no file none.mp4"),
        ({"tasks": [{"data": {"movie": "/data/local-files/?d=../../etc/passwd"}}]}, "no file"),
        ({"tasks": [{"data": {"movie": "file:///etc/passwd"}}]}, "expected the address"),
        ({"tasks": 3}, "not as Label Studio makes them"),
        ({"params": {"context": {"result": [{"type": "videorectangle"}]}}}, "not as Label Studio makes them"),
    ],
)
def test_bad_requests_are_answered_in_a_sentence(server: Server, change: dict[str, Any], said: str) -> None:
    truth = next(squares(1))[1]
    code, answer = ask(server, "/predict", {**request_for([region(1, 0, truth)]), **change})
    assert code == 400
    assert said in answer["error"]
    assert ask(server, "/predict", b"{")[0] == ask(server, "/predict", [1])[0] == 400
    assert ask(server, "/health")[0] == 200  # it goes on


def test_uploads_are_fetched_once_with_the_token(tmp_path: Path) -> None:
    """A Label Studio stands in: another server, which tells what it was asked."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    seen: list[tuple[str, str | None]] = []

    class Studio(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization")))
            self.send_response(200 if "film" in self.path else 403)
            self.end_headers()
            self.wfile.write(b"film")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Studio) as studio:
        threading.Thread(target=studio.serve_forever, daemon=True).start()
        files = Files(None, f"http://127.0.0.1:{studio.server_port}", "secret", tmp_path)
        path = files.find("/data/upload/1/film.mp4")
        assert path == files.find("/data/upload/1/film.mp4")
        assert (path.read_bytes(), path.suffix) == (b"film", ".mp4")
        assert seen == [("/data/upload/1/film.mp4", "Token secret")]
        with pytest.raises(InputError, match="token"):
            files.find("/data/upload/1/other.mp4")
        studio.shutdown()
    with pytest.raises(InputError, match="say where they are"):
        files.find("/data/local-files/?d=a.mp4")


def test_keyframes_are_few_and_give_every_box() -> None:
    straight = {frame: (10.0 + frame, 20.0, 30.0, 40.0) for frame in range(5, 40)}
    assert [key["frame"] for key in sequence(straight, 25)] == [6, 40]
    bent = {frame: (10.0 + abs(frame - 20), 20.0, 5.0, 5.0) for frame in range(40)}
    keys = sequence(bent, 25)
    assert [key["frame"] for key in keys] == [1, 21, 40]
    assert keys[1]["time"] == pytest.approx(20 / 25)
    for frame, box in bent.items():
        assert shown(keys, frame) == pytest.approx(box, abs=OFF_BY)
    gone = {frame: box for frame, box in straight.items() if not 15 <= frame < 25}
    keys = sequence(gone, 25)
    assert [(key["frame"], key["enabled"]) for key in keys] == [(6, True), (15, False), (26, True), (40, True)]
    assert shown(keys, 20) is None


def test_controls() -> None:
    assert read_controls(VIDEO).media == "movie"
    assert read_controls(VIDEO).boxes == ("box", "film")
    assert read_controls(PICTURE).brush == ("brush", "image")


@pytest.mark.skipif(not importlib.util.find_spec("label_studio_sdk"), reason="needs label-studio-sdk")
def test_label_studio_itself_finds_nothing_wrong(server: Server) -> None:
    from label_studio_sdk.label_interface import LabelInterface

    truth = next(squares(1))[1]
    said = ask(server, "/predict", request_for([region(1, 0, truth)]))[1]["results"][0]
    assert LabelInterface(VIDEO).validate_prediction(said, return_errors=True) == []
