"""The drift alarm on made-up confidences."""

from pathlib import Path

from mobilevos.pipeline.alarm import Alarm, find_alarms
from mobilevos.pipeline.record import Row, read_rows


def rows(identity: int, values: dict[int, float], frames: int = 40, alike: tuple[int, ...] = ()) -> list[Row]:
    """alike: frames in which it is taken for object 5."""
    return [Row(i, f"{i / 25:.6f}", identity, values.get(i, 0.9), 5 * (i in alike)) for i in range(frames)]


def test_stretches() -> None:
    """A flicker is none, doubts a few frames apart are one, and they come in the order of frames."""
    doubt = {3: 0.2, 4: 0.1} | dict.fromkeys((10, 11, 15, 16), 0.3) | dict.fromkeys(range(30, 38), 0.0)
    given = sorted(rows(7, doubt) + rows(2, {20: 0.4, 21: 0.45, 22: 0.35}))
    assert find_alarms(given) == [
        Alarm(7, 10, 16, 0.3, lost=False),
        Alarm(2, 20, 22, 0.35, lost=False),
        Alarm(7, 30, 37, 0.0, lost=True),
    ]


def test_a_look_alike_is_named() -> None:
    """Where it was taken for another in most of the doubtful frames; a lost one is lost."""
    doubt = dict.fromkeys(range(10, 20), 0.3)
    assert find_alarms(rows(2, doubt, alike=tuple(range(12, 30))))[0].alike == 5
    assert find_alarms(rows(2, doubt, alike=(12, 13)))[0].alike == 0
    assert find_alarms(rows(2, dict.fromkeys(range(10, 20), 0.0), alike=tuple(range(40))))[0].kind == "lost"


def test_words() -> None:
    """Lost, doubtful or taken for another, and one frame to correct."""
    assert str(Alarm(2, 5, 9, 0.123, lost=False, alike=3)) == (
        "object 2 may be taken for a look-alike, object 3, in frames 5 to 9 (confidence down to 0.12): correct frame 5"
    )
    assert [Alarm(1, 0, 9, 0.1, lost=False, alike=a).kind for a in (0, 2)] == ["doubtful", "look-alike"]
    assert str(Alarm(2, 5, 9, 0.123, lost=False)) == (
        "object 2 is doubtful in frames 5 to 9 (confidence down to 0.12): correct frame 5"
    )
    assert str(Alarm(1, 4, 4, 0.0, lost=True)) == "object 1 is lost in frame 4: correct frame 4, unless it has left"


def test_reading_the_file(tmp_path: Path) -> None:
    path = tmp_path / "confidence.csv"
    path.write_text("frame,time,object,confidence,alike\n0,0.000000,1,1.0000,\n1,0.040000,3,0.2500,2\n")
    assert read_rows(path) == [Row(0, "0.000000", 1, 1.0), Row(1, "0.040000", 3, 0.25, 2)]
