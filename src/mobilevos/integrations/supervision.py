"""Results as detections of supervision, so that its annotators, zones and sinks work; and detections as marks.

detections = to_detections(tracker.step(frame))
picture = supervision.MaskAnnotator().annotate(picture, detections)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Image
from mobilevos.errors import InputError
from mobilevos.integrations import needed
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.prompts import draw_box
from mobilevos.tracking.result import Sight, TrackResult
from mobilevos.tracking.tracker import MOST_OBJECTS

if TYPE_CHECKING:
    import supervision as sv


def to_detections(result: TrackResult, classes: Mapping[int, int] | None = None) -> sv.Detections:
    """The objects that are in the frame: box, mask, confidence, and the object's id as `tracker_id`.

    Args:
        result: of a tracker.
        classes: for each object id its class; 0 where nothing is said.
    """
    seen = [i for i in result.ids if (result.mask == i).any()]
    masks = np.stack([result.mask == i for i in seen]) if seen else np.zeros((0, *result.mask.shape), bool)
    detections: sv.Detections = needed("supervision", "supervision").Detections(
        xyxy=np.array([_box(mask) for mask in masks], np.float64).reshape(-1, 4),
        mask=masks,
        confidence=np.array([result.confidence[i] for i in seen], np.float64),
        class_id=np.array([(classes or {}).get(i, 0) for i in seen], int),
        tracker_id=np.array(seen, int),
    )
    return detections


def from_detections(detections: sv.Detections, frame: Image) -> TrackResult:
    """What detections with masks say of a frame (H, W, 3); its `.mask` is what `Tracker.start` and `correct` take.

    Ids are those of `tracker_id`, or 1, 2, ... in order. Where masks overlap, the more confident one has the pixel.
    """
    ids = _ids(detections)
    if detections.mask is None:
        raise InputError("expected detections with masks; hand marks_of(detections, frame) to Tracker.propose instead")
    masks = np.asarray(detections.mask, bool).reshape(-1, *np.shape(detections.mask)[1:])
    if len(ids) and masks.shape[1:] != frame.shape[:2]:
        raise InputError(f"expected masks of the frame's size {frame.shape[:2]}, got {masks.shape[1:]}")
    scores = np.ones(len(ids)) if detections.confidence is None else np.asarray(detections.confidence, float)
    drawn = np.zeros(frame.shape[:2], np.uint8)
    for n in np.argsort(scores, kind="stable"):
        drawn[masks[n]] = ids[n]
    geometry = Geometry.fit(frame.shape[0], frame.shape[1], None)
    planes = geometry.masks(drawn, ids) if ids else np.zeros((0, *geometry.frame(frame).shape[:2]), np.float32)
    sight = Sight(ids, np.concatenate([1 - planes.sum(0, keepdims=True), planes]), geometry)
    return TrackResult(ids, sight, frame, dict(zip(ids, scores.tolist(), strict=True)), drawn=drawn)


def marks_of(detections: sv.Detections, frame: Image) -> dict[int, NDArray[Any]]:
    """The boxes of any detector as marks for `Tracker.propose`, which gives the masks: {id: (H, W)}."""
    height, width = frame.shape[:2]
    marks = {}
    for identity, (left, top, right, bottom) in zip(_ids(detections), detections.xyxy, strict=True):
        x, y = round(float(left)), round(float(top))
        marks[identity] = draw_box(height, width, (x, y, round(float(right)) - x, round(float(bottom)) - y))
    return marks


def _ids(detections: sv.Detections) -> tuple[int, ...]:
    given = detections.tracker_id
    ids = tuple(range(1, len(detections) + 1) if given is None else (int(i) for i in given))
    if len(set(ids)) != len(ids):
        raise InputError(f"expected a tracker_id for each object, got {list(ids)}")
    if ids and not 1 <= min(ids) <= max(ids) <= MOST_OBJECTS:
        raise InputError(f"expected ids between 1 and {MOST_OBJECTS}, got {list(ids)}")
    return ids


def _box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """left, top, right, bottom; the latter two are behind the last pixel."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
