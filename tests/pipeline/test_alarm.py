"""The drift alarm on made-up confidences."""

from pathlib import Path

from mobilevos.pipeline.alarm import Alarm, find_alarms, read_confidence


def rows(identity: int, values: dict[int, float], frames: int = 40) -> list[tuple[int, int, float]]:
    return [(frame, identity, values.get(frame, 0.9)) for frame in range(frames)]


def test_stretches() -> None:
    """A flicker is none, doubts a few frames apart are one, and they come in the order of frames."""
    doubt = {3: 0.2, 4: 0.1} | dict.fromkeys((10, 11, 15, 16), 0.3) | dict.fromkeys(range(30, 38), 0.0)
    given = sorted(rows(7, doubt) + rows(2, {20: 0.4, 21: 0.45, 22: 0.35}))
    assert find_alarms(given) == [
        Alarm(7, 10, 16, 0.3, lost=False),
        Alarm(2, 20, 22, 0.35, lost=False),
        Alarm(7, 30, 37, 0.0, lost=True),
    ]


def test_words() -> None:
    """Lost or doubtful, and one frame to correct."""
    assert str(Alarm(2, 5, 9, 0.123, lost=False)) == (
        "object 2 is doubtful in frames 5 to 9 (confidence down to 0.12): correct frame 5"
    )
    assert str(Alarm(1, 4, 4, 0.0, lost=True)) == "object 1 is lost in frame 4: correct frame 4, unless it has left"


def test_reading_the_file(tmp_path: Path) -> None:
    path = tmp_path / "confidence.csv"
    path.write_text("frame,time,object,confidence\n0,0.000000,1,1.0000\n1,0.040000,3,0.2500\n")
    assert list(read_confidence(path)) == [(0, 1, 1.0), (1, 3, 0.25)]
