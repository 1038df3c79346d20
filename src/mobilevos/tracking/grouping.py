"""Which objects share a window.

A look through the network costs about as much as following two objects in it. So objects near each other share a
window, and far ones get their own where they are shown much larger in it, as long as the whole stays bounded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.window import Extent, LookAhead, closest_zoom, first_look, joined

COST_LOOK, COST_OBJECT = 0.62, 0.38
"""Of one window, and of each object in it, relative to one object in one window; see docs/architecture.md."""
LIMIT = 4.0
"""What following all objects may cost, relative to one."""
PAYS = math.inf
"""How many times larger an object must be shown in a window of its own. Never, for now: with 1.6 two dogs that leap
were lost (J&F 0.59 instead of 0.91), and tests/tracking/test_tracker_windows.py names what is to be mended first."""
OVERLAP = 0.1
"""Share of an object's box inside of a window from which on it is a guest there."""


def partition(whole: Geometry, extents: Mapping[int, Extent | None]) -> list[tuple[int, ...]]:
    """Objects by windows. Those that are nowhere to be seen share the one of the first."""
    seen = {identity: extent for identity, extent in extents.items() if extent is not None}
    groups = [[identity] for identity in seen] or [list(extents)]
    while len(groups) > 1:
        parts = [[seen[i] for i in group] for group in groups]
        a, b = closest_pair(whole, parts)
        if _loss(whole, parts[a], parts[b]) > PAYS and _cost(whole, parts) <= LIMIT:
            break
        groups[a] += groups.pop(b)
    if seen:
        groups[0] += [identity for identity in extents if identity not in seen]
    order = list(extents)
    return [tuple(sorted(group, key=order.index)) for group in groups]


def guests(look: LookAhead, whole: Geometry, others: Mapping[int, Extent | None], *, margin: float = 1.0) -> set[int]:
    """Those of the other objects that a window shows."""
    top, left, height, width = look.geometry(whole).box
    center_x, center_y = left + width / 2, top + height / 2
    half_x, half_y = margin * width / 2, margin * height / 2

    def share(extent: Extent) -> float:
        across = min(extent.right, center_x + half_x) - max(extent.left, center_x - half_x)
        down = min(extent.bottom, center_y + half_y) - max(extent.top, center_y - half_y)
        area = max(1.0, (extent.right - extent.left) * (extent.bottom - extent.top))
        return max(0.0, across) * max(0.0, down) / area

    return {identity for identity, extent in others.items() if extent is not None and share(extent) >= OVERLAP}


def closest_pair(whole: Geometry, groups: Sequence[Sequence[Extent | None]]) -> tuple[int, int]:
    """Positions of the two windows that lose least by becoming one; those whose objects are lost lose nothing."""
    seen = [[extent for extent in group if extent is not None] for group in groups]
    pairs = list(combinations(range(len(groups)), 2))
    return min(pairs, key=lambda pair: _loss(whole, seen[pair[0]], seen[pair[1]]))


def cost(counts: Sequence[int]) -> float:
    """Of windows with so many objects each, guests included, relative to one object in one window."""
    return sum(COST_LOOK + COST_OBJECT * count for count in counts)


def _cost(whole: Geometry, groups: Sequence[Sequence[Extent]]) -> float:
    looks = [first_look(whole, joined(group)) for group in groups]
    counts = []
    for number, look in enumerate(looks):
        others = [extent for other, group in enumerate(groups) if other != number for extent in group]
        counts.append(len(groups[number]) + len(guests(look, whole, dict(enumerate(others)))))
    return cost(counts)


def _loss(whole: Geometry, a: Sequence[Extent], b: Sequence[Extent]) -> float:
    """How many times smaller the objects are shown if two groups share a window."""
    if not a or not b:
        return 1.0
    together = closest_zoom(whole, joined([*a, *b]))
    return max(closest_zoom(whole, joined(a)), closest_zoom(whole, joined(b))) / together
