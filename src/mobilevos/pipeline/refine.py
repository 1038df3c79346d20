"""From a rough prompt to a mask.

A `Refine` is a function of a frame (H, W, 3) and a prompt that gives a guess of the mask of a new object, or of one
that starts anew. The network was trained to do it; GrabCut (Rother et al., SIGGRAPH 2004) stands in where it finds
nothing. What comes of it need not obey the clicks: `tracking.constraints` sees to that afterwards, and alone mends a
known mask, because one that is made anew loses what was right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Bits, Image
from mobilevos.pipeline.marks import Prompt
from mobilevos.tracking import Tracker
from mobilevos.tracking.prompts import draw_box, draw_clicks


@dataclass(frozen=True)
class Guess:
    """What a prompt means."""

    mask: Bits
    """(H, W)."""
    confidence: float
    """How far it is to be trusted, as that of followed masks: a guess of its overlap with what is meant."""


Refine = Callable[[Image, Prompt], Guess]

UNSEEN = 0.25
"""The confidence of a mask where the network saw nothing, and colours alone had to do: doubtful; not measured."""

WORKING_SIDE = 400
"""The long side of the picture that GrabCut works on."""

CLICK = 0.015
"""Radius of a click, as a share of the long side."""

REACH = 0.15
"""How far around a click the object probably goes on, as a share of the long side."""


def by_network(tracker: Tracker) -> Refine:
    """Refines with the tracker's own network."""

    def refine(frame: Image, prompt: Prompt) -> Guess:
        height, width = frame.shape[:2]
        box = draw_box(height, width, prompt.box) if prompt.box else 0
        mark = draw_clicks(height, width, prompt.on) | box
        proposed = tracker.propose(frame, {1: mark}, {1: draw_clicks(height, width, prompt.off)})
        mask = proposed.mask == 1
        hits = [mask[y, x] for x, y in prompt.on]
        if mask.any() and 2 * sum(hits) >= len(hits):
            return Guess(mask, proposed.confidence[1])
        return Guess(grabcut(frame, prompt), UNSEEN)

    return refine


def grabcut(frame: Image, prompt: Prompt) -> Bits:
    """The mask (H, W) that fits a prompt and the colours of the frame; never empty."""
    height, width = frame.shape[:2]
    factor = min(1.0, WORKING_SIDE / max(height, width))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    picture = cv2.cvtColor(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2BGR)
    labels = _labels(prompt, size, factor)
    rough = np.isin(labels, (cv2.GC_FGD, cv2.GC_PR_FGD))
    if rough.any() and not rough.all():
        cv2.setRNGSeed(0)  # its first guess is random: the same prompt must give the same mask
        models = np.zeros((1, 65)), np.zeros((1, 65))
        nowhere = (0, 0, 0, 0)
        found, *_ = cv2.grabCut(picture, labels.copy(), nowhere, models[0], models[1], 5, cv2.GC_INIT_WITH_MASK)
        mask = _connected(np.isin(found, (cv2.GC_FGD, cv2.GC_PR_FGD)), labels)
        rough = mask if mask.any() else rough
    whole = cv2.resize(rough.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
    for x, y in prompt.on:
        whole[y, x] = True
    if prompt.box and not whole.any():
        x, y, w, h = prompt.box
        whole[y : y + h, x : x + w] = True
    return whole


def _labels(prompt: Prompt, size: tuple[int, int], factor: float) -> NDArray[np.uint8]:
    """What GrabCut is told of each pixel: (h, w) of size (w, h)."""
    labels = np.full(size[::-1], cv2.GC_PR_BGD, np.uint8)
    if prompt.box:
        x, y, w, h = (round(number * factor) for number in prompt.box)
        labels[:] = cv2.GC_BGD
        labels[y : y + max(1, h), x : x + max(1, w)] = cv2.GC_PR_FGD
    points = [(prompt.on, cv2.GC_FGD), (prompt.off, cv2.GC_BGD)]
    radius, reach = (max(1, round(share * max(size))) for share in (CLICK, REACH))
    if not prompt.box:
        for x, y in prompt.on:
            cv2.circle(labels, (round(x * factor), round(y * factor)), reach, cv2.GC_PR_FGD, -1)
    for clicks, label in points:
        for x, y in clicks:
            cv2.circle(labels, (round(x * factor), round(y * factor)), radius, label, -1)
    return labels


def _connected(mask: Bits, labels: NDArray[np.uint8]) -> Bits:
    """The parts of a mask that a click is on; without a click, those of at least a tenth of the largest."""
    count, parts, stats, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8))
    if count < 2:
        return mask
    clicked = np.unique(parts[(labels == cv2.GC_FGD) & mask])
    areas = stats[:, cv2.CC_STAT_AREA].copy()
    areas[0] = 0
    kept = clicked if len(clicked) else np.flatnonzero(areas >= 0.1 * areas.max())
    return np.isin(parts, kept[kept > 0])
