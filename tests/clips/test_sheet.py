"""Contact sheets."""

import numpy as np
import torch

from mobilevos.clips import Batch, batch_sheet
from mobilevos.clips.sheet import paint, prediction_sheet


def test_sheet_shows_all_clips_and_frames() -> None:
    masks = torch.zeros(2, 3, 40, 40, dtype=torch.uint8)
    masks[:, :, 10:20, 10:20] = 1
    prompts = torch.zeros(2, 2, 1, 40, 40, dtype=torch.uint8)
    prompts[:, 0, :, 12:18, 12:18] = 1
    prompts[:, 1, :, 30:33, 30:33] = 1
    frames = torch.full((2, 3, 3, 40, 40), 100, dtype=torch.uint8)
    sheet = batch_sheet(Batch(frames, masks, prompts, objects=1, index=0))
    assert sheet.shape == (80, 160, 3)
    assert sheet.dtype == np.uint8
    assert (sheet[0, :120] == 100).all()  # background as it is
    assert sheet[15, 15, 0] > sheet[15, 15, 2]  # tinted
    assert sheet[15, 120 + 15].sum() > sheet[5, 120 + 5].sum() > sheet[31, 120 + 31].sum()  # prompts bright and dark


def test_predictions_stand_beside_the_first_mask() -> None:
    masks = torch.zeros(2, 3, 40, 40, dtype=torch.uint8)
    masks[:, 0, :20] = 1
    frames = torch.full((2, 3, 3, 40, 40), 100, dtype=torch.uint8)
    predicted = np.zeros((2, 2, 10, 10), np.uint8)
    predicted[1, 1, :, :5] = 1
    sheet = prediction_sheet(Batch(frames, masks, torch.zeros(2, 2, 1, 40, 40), objects=1, index=0), predicted)
    assert sheet.shape == (80, 120, 3)
    tinted = (sheet != 100).any(-1)
    assert tinted[:20, :40].all()
    assert tinted[40:60, :40].all()
    assert tinted[40:, 80:100].all()
    assert tinted.sum() == 2 * 20 * 40 + 40 * 20
    last = prediction_sheet(Batch(frames, masks, torch.zeros(2, 2, 1, 40, 40), objects=1, index=0), predicted[:, 1:])
    assert np.array_equal(last, np.delete(sheet, np.s_[40:80], axis=1))


def test_paint_leaves_its_input_alone() -> None:
    frame, mask = np.zeros((10, 10, 3), np.uint8), np.full((10, 10), 255, np.uint8)
    assert (paint(frame, mask) == 85).all()
    assert not frame.any()
