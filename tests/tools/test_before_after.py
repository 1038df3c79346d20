"""Two models beside each other."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np

from mobilevos.arrays import Image
from mobilevos.datasets.davis import davis_videos
from mobilevos.pipeline.marks import Prompt
from tests.builders.davis import write_davis
from tests.pipeline.colours import squares, tracker
from tools.before_after import COLUMN, ROW, alarm_sheet, course, marks_sheet


def test_a_row_for_each_object_and_a_cell_for_each_answer() -> None:
    frame, ids = next(iter(squares(1)))
    asked: list[Prompt] = []

    def reader(picture: Image, prompt: Prompt) -> Any:
        asked.append(prompt)
        return SimpleNamespace(mask=np.asarray(ids == 1))

    sheet = marks_sheet([reader, reader], [(frame, ids == 1), (frame, ids == 2)])
    assert sheet.shape == (2 * ROW, 5 * COLUMN, 3)
    assert [prompt.box is None for prompt in asked] == [True, True, False, False] * 2
    ((x, y),) = asked[0].on
    assert ids[y, x] == 1
    assert not np.array_equal(sheet[:ROW, COLUMN : 2 * COLUMN], sheet[:ROW, 2 * COLUMN : 3 * COLUMN])  # their words


def test_the_course_of_a_clip(tmp_path: Path) -> None:
    clip = list(squares(5))
    frames, masks = (np.stack(part) for part in zip(*clip, strict=True))
    masks = masks.copy()
    masks[3][masks[3] == 1] = 0  # where the truth knows of one object only, the other is wrong
    root = write_davis(tmp_path, {"squares": (frames, masks)}, {"2017/val": ["squares"]})
    (video,) = davis_videos(root, ["squares"])
    found = course(tracker(), video)
    assert len(found) == 5
    overlaps = [overlap for overlap, _ in found]
    assert overlaps[0] == 1
    assert overlaps[3] < 0.6 < min(overlaps[1], overlaps[2], overlaps[4])
    assert all(0 <= told <= 1 for _, told in found)
    alarm_sheet({"squares": [found, found]}, tmp_path / "alarms.png")
    assert cv2.imread(str(tmp_path / "alarms.png")) is not None
