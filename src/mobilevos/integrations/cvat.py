"""A tracking function for CVAT's auto-annotation agents; no GPU needed.

    cvat-cli function create-native MobileVOS --function-module mobilevos.integrations.cvat
    cvat-cli function run-agent NUMBER --function-module mobilevos.integrations.cvat

Shapes that are handed over on one frame are followed together, in one step a frame for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import cv2
import numpy as np
from PIL import Image as Pictures

from mobilevos.arrays import Bits, Image
from mobilevos.errors import InputError
from mobilevos.integrations import needed
from mobilevos.runtime import Runtime, load_runtime
from mobilevos.tracking import Tracker, TrackResult
from mobilevos.tracking.prompts import draw_box
from mobilevos.tracking.tracker import MOST_OBJECTS
from mobilevos.weights import WORKING_SIZE

if TYPE_CHECKING:
    from cvat_sdk.auto_annotation import (
        TrackableShape,
        TrackingFunctionContext,
        TrackingFunctionShapeContext,
        TrackingFunctionSpec,
    )

KINDS = ("mask", "polygon", "rectangle")
COARSE = 0.75
"""Pixels by which an outline may be off, so that a polygon has corners a hand can move."""


@dataclass
class Company:
    """Objects that were drawn on one frame and do not overlap: followed by one tracker."""

    tracker: Tracker
    frame: Image
    """The latest"""
    masks: dict[int, Bits] = field(default_factory=dict)
    """As they were drawn"""
    result: TrackResult | None = None
    """In the latest frame; None before the second one"""

    def has_room(self, frame: Image, mask: Bits) -> bool:
        """Whether one more object of that frame can join."""
        free = self.result is None and self.frame is frame and len(self.masks) < MOST_OBJECTS
        return free and not any((mask & other).any() for other in self.masks.values())

    def mask(self, identity: int, frame: Image) -> Bits:
        """An object (H, W) in the next frame, or once more in the latest."""
        if self.result is None:
            drawn = np.zeros(self.frame.shape[:2], np.uint8)
            for each, mask in self.masks.items():
                drawn[mask] = each
            self.result = self.tracker.start(self.frame, drawn)
        if frame is not self.frame:
            self.frame, self.result = frame, self.tracker.step(frame)
        return np.asarray(self.result.mask == identity)


@dataclass(frozen=True)
class Followed:
    """What CVAT keeps for each shape."""

    company: Company
    identity: int


class CvatTracker:
    """What `create` gives: the interface is CVAT's."""

    def __init__(self, runtime: Runtime, size: int) -> None:
        needed("cvat_sdk.auto_annotation", "cvat")
        self._runtime, self._size = runtime, size
        self._companies: list[Company] = []

    @property
    def spec(self) -> TrackingFunctionSpec:
        """Which shapes can be followed."""
        from cvat_sdk.auto_annotation import TrackingFunctionSpec

        return TrackingFunctionSpec(supported_shape_types=KINDS)

    def preprocess_image(self, context: TrackingFunctionContext, image: Pictures.Image) -> Image:
        """(H, W, 3)"""
        return np.asarray(image.convert("RGB"))

    def init_tracking_state(
        self, context: TrackingFunctionShapeContext, pp_image: Image, shape: TrackableShape
    ) -> Followed:
        """Begin with a shape on a frame."""
        tracker = Tracker(self._runtime, size=self._size)
        mask = _drawn(shape, tracker, pp_image)
        if not mask.any():
            raise InputError(f"the {shape.type} covers no pixel of the frame")
        company = next((each for each in self._companies if each.has_room(pp_image, mask)), None)
        if company is None:
            company = Company(tracker, pp_image)
            self._companies = [each for each in self._companies if each.frame is pp_image] + [company]
        identity = len(company.masks) + 1
        company.masks[identity] = mask
        return Followed(company, identity)

    def track(self, context: TrackingFunctionShapeContext, pp_image: Image, state: Followed) -> TrackableShape | None:
        """The shape in the next frame; None where it is not to be seen."""
        from cvat_sdk.auto_annotation import TrackableShape

        points = _points(state.company.mask(state.identity, pp_image), context.original_shape_type)
        return TrackableShape(type=context.original_shape_type, points=points) if points else None


def create(model: str = "mobilenetv2-lite", runtime: str = "auto", size: int = WORKING_SIZE) -> CvatTracker:
    """What cvat-cli calls; its parameters are given there as `-p model=str:resnet18`."""
    return CvatTracker(load_runtime(model, runtime), size)


def _drawn(shape: TrackableShape, tracker: Tracker, frame: Image) -> Bits:
    """What a shape covers (H, W); a rectangle is a rough mark, and the object in it is found first."""
    height, width = frame.shape[:2]
    if shape.type == "mask":
        from cvat_sdk.masks import decode_mask

        return np.asarray(decode_mask(shape.points, image_width=width, image_height=height), bool)
    corners = np.floor(np.reshape(shape.points, (-1, 2))).astype(np.int32)
    if shape.type == "polygon":
        canvas = np.zeros((height, width), np.uint8)
        return np.asarray(cv2.fillPoly(canvas, [corners], (1,)), bool)
    (left, top), (right, bottom) = corners.min(0).tolist(), np.ceil(np.reshape(shape.points, (-1, 2))).max(0).tolist()
    box = draw_box(height, width, (left, top, int(right) - left, int(bottom) - top))
    found = tracker.propose(frame, {1: box}).mask == 1 if box.any() else box > 0
    return np.asarray(found if found.any() else box > 0)


def _points(mask: Bits, kind: str) -> list[float]:
    """A mask (H, W) as the numbers of a shape; none where it has no pixel, or no outline."""
    if not mask.any():
        return []
    if kind == "mask":
        from cvat_sdk.masks import encode_mask

        return list(encode_mask(mask))
    if kind == "rectangle":
        left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
        return [float(left), float(top), float(left + width), float(top + height)]
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    largest = max(contours, key=cv2.contourArea)
    corners = cv2.approxPolyDP(largest, COARSE, closed=True)
    if len(corners) < 3:
        return []
    return [float(value) + 0.5 for value in corners.ravel()]  # the middle of a pixel
