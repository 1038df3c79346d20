/**
 * Clicks are obeyed: a point on the object is in its mask, a point that is not on it is out of it.
 *
 * The same rule as the Python package's `tracking/constraints.py`, which says why, cell for cell: all is done in whole
 * numbers, and `tests/web/test_constraints.py` compares the masks.
 */
import type { Size } from './geometry';
import type { Point } from './marks';
import { partsOf } from './parts';

/** What the numbers mean is said beside those of the same names in `tracking/constraints.py`. */
export const CONSTRAINTS = {
  WORKING_SIDE: 256,
  REACH: 0.2,
  ROOM: 2.5,
  SIZE: 0.4,
  STRAIGHT: 5,
  DIAGONAL: 7,
  CONTRAST: 2,
  BARRIER: 2000,
  FAR: 1 << 28,
  CERTAIN: 1000,
} as const;

/** A picture to look at: RGBA. */
export interface Pixels extends Size {
  data: Uint8ClampedArray;
}

/**
 * The mask (1 inside, 0 outside) with which all clicks agree: the same one where they do already. A minus never adds a
 * pixel and a plus never removes one. Clicks are pixels of the picture. `others`: the ids of other objects, 0 elsewhere;
 * a plus takes pixels of the object it is on, and otherwise none of any object.
 */
export function obeyed(
  picture: Pixels,
  mask: Uint8Array,
  on: readonly Point[],
  off: readonly Point[],
  others: Uint8Array | null = null,
): Uint8Array {
  const { width } = picture;
  const at = ({ x, y }: Point) => y * width + x;
  const area = mask.reduce((sum, value) => sum + value, 0);
  const after = mask.slice();
  const cut = off.filter((point) => mask[at(point)]);
  if (cut.length) {
    const lost = claimed(picture, mask, cut, on, area);
    for (let i = 0; i < after.length; i++) if (lost[i]) after[i] = 0;
  }
  const owner = (i: number) => others?.[i] ?? 0;
  const add = on.filter((point) => !mask[at(point)]);
  for (const id of new Set(add.map((point) => owner(at(point))))) {
    const clicks = add.filter((point) => owner(at(point)) === id);
    const region = mask.map((value, i) => (!value && owner(i) === id ? 1 : 0));
    const won = claimed(picture, region, clicks, off, area);
    for (let i = 0; i < after.length; i++) if (won[i]) after[i] = 1;
  }
  for (const point of on) after[at(point)] = 1; // of clicks that share a cell one may have lost
  for (const point of off) after[at(point)] = 0;
  return after;
}

/** What clicks claim of a region that they are in; area: of the object, in pixels. */
function claimed(
  picture: Pixels,
  region: Uint8Array,
  clicks: readonly Point[],
  against: readonly Point[],
  area: number,
): Uint8Array {
  const { height, width } = picture;
  const cell = Math.ceil(Math.max(height, width) / CONSTRAINTS.WORKING_SIDE);
  const size = { height: Math.ceil(height / cell), width: Math.ceil(width / cell) };
  const inside = anyOf(region, picture, cell, size);
  const marked = (points: readonly Point[]) => {
    const cells = new Uint8Array(inside.length);
    for (const { x, y } of points) cells[Math.floor(y / cell) * size.width + Math.floor(x / cell)] = 1;
    return cells;
  };
  const [seeds, stays] = [marked(clicks), marked(against)];
  const near = nearSeeds(inside, seeds, area / cell ** 2, size);
  for (let i = 0; i < stays.length; i++) stays[i] = (stays[i] || (inside[i] && !near[i])) && !seeds[i] ? 1 : 0;
  const costs = costsOf(meanOf(picture, cell, size), inside, size);
  const [away, here] = [distances(costs, stays, size), distances(costs, seeds, size)];
  const { CERTAIN } = CONSTRAINTS;
  const lead = away.map((distance, i) => Math.min(Math.max(distance - here[i], -CERTAIN), CERTAIN));
  const won = enlarged(lead, cell, size);
  const out = new Uint8Array(region.length);
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.floor(y / cell) * size.width;
    for (let x = 0; x < width; x++, i++) {
      if (region[i] && near[row + Math.floor(x / cell)] && won[y * size.width * cell + x] > 0) out[i] = 1;
    }
  }
  return out;
}

/** Which cells may change: those around a seed, in the part of the region that it is in. */
function nearSeeds(inside: Uint8Array, seeds: Uint8Array, area: number, { height, width }: Size): Uint8Array {
  const reach = CONSTRAINTS.REACH * Math.max(height, width);
  const most = area ? Math.min(reach, CONSTRAINTS.SIZE * Math.sqrt(area)) : reach / 2;
  const { parts, sizes } = partsOf(inside, { height, width });
  const largest = sizes.reduce((best, size, part) => (size > sizes[best] ? part : best), 0);
  const near = new Uint8Array(inside.length);
  seeds.forEach((seed, at) => {
    if (!seed) return;
    const [y, x] = [Math.floor(at / width), at % width];
    const border = Math.min(y, x, height - 1 - y, width - 1 - x) + 1;
    const away = (i: number) => (Math.floor(i / width) - y) ** 2 + ((i % width) - x) ** 2;
    let outside = border ** 2;
    for (let i = 0; i < inside.length; i++) if (!inside[i]) outside = Math.min(outside, away(i));
    const depth = Math.min(border, Math.sqrt(outside));
    const room = parts[at] === largest ? Math.min(most, CONSTRAINTS.ROOM * depth + 1) : reach;
    for (let i = 0; i < inside.length; i++) if (parts[i] === parts[at] && away(i) <= room ** 2) near[i] = 1;
  });
  return near;
}

/** What a step costs from each cell to its neighbour right, down, right and down, right and up. */
function costsOf(picture: Int32Array, inside: Uint8Array, { height, width }: Size): Int32Array[] {
  const { STRAIGHT, DIAGONAL, CONTRAST, BARRIER, FAR } = CONSTRAINTS;
  const ways = [
    [0, 1],
    [1, 0],
    [1, 1],
    [-1, 1],
  ] as const;
  return ways.map(([dy, dx]) => {
    const costs = new Int32Array(inside.length).fill(FAR);
    const length = dy && dx ? DIAGONAL : STRAIGHT;
    for (let y = Math.max(0, -dy); y < height - Math.max(0, dy); y++) {
      for (let x = 0; x < width - dx; x++) {
        const [from, to] = [y * width + x, (y + dy) * width + x + dx];
        let contrast = 0;
        for (let c = 0; c < 3; c++) contrast += Math.abs(picture[3 * from + c] - picture[3 * to + c]);
        costs[from] = length + CONTRAST * contrast + (inside[from] && inside[to] ? 0 : BARRIER);
      }
    }
    return costs;
  });
}

/** How far each cell is from the nearest seed along the cheapest way: sweeps to and fro until nothing changes. */
export function distances(costs: readonly Int32Array[], seeds: Uint8Array, { height, width }: Size): Int32Array {
  const [right, down, fall, rise] = costs;
  const far = Int32Array.from(seeds, (seed) => (seed ? 0 : CONSTRAINTS.FAR));
  let changed = true;
  const reach = (to: number, from: number, cost: number) => {
    if (far[from] + cost >= far[to]) return;
    far[to] = far[from] + cost;
    changed = true;
  };
  while (changed) {
    changed = false;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const i = y * width + x;
        if (x) reach(i, i - 1, right[i - 1]);
        if (!y) continue;
        reach(i, i - width, down[i - width]);
        if (x) reach(i, i - width - 1, fall[i - width - 1]);
        if (x + 1 < width) reach(i, i - width + 1, rise[i]);
      }
    }
    for (let y = height - 1; y >= 0; y--) {
      for (let x = width - 1; x >= 0; x--) {
        const i = y * width + x;
        if (x + 1 < width) reach(i, i + 1, right[i]);
        if (y + 1 >= height) continue;
        reach(i, i + width, down[i]);
        if (x + 1 < width) reach(i, i + width + 1, fall[i]);
        if (x) reach(i, i + width - 1, rise[i + width - 1]);
      }
    }
  }
  return far;
}

/** Whether each cell has a pixel of the region. */
function anyOf(region: Uint8Array, { height, width }: Size, cell: number, size: Size): Uint8Array {
  const out = new Uint8Array(size.height * size.width);
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.floor(y / cell) * size.width;
    for (let x = 0; x < width; x++, i++) if (region[i]) out[row + Math.floor(x / cell)] = 1;
  }
  return out;
}

/** The mean colour of each cell, rounded down: (h, w, 3). */
function meanOf({ data, height, width }: Pixels, cell: number, size: Size): Int32Array {
  const sums = new Int32Array(size.height * size.width * 3);
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.floor(y / cell) * size.width;
    for (let x = 0; x < width; x++, i++) {
      const at = 3 * (row + Math.floor(x / cell));
      for (let c = 0; c < 3; c++) sums[at + c] += data[4 * i + c];
    }
  }
  for (let i = 0; i < sums.length; i++) {
    const at = Math.floor(i / 3);
    const high = Math.min(cell, height - cell * Math.floor(at / size.width));
    const wide = Math.min(cell, width - cell * (at % size.width));
    sums[i] = Math.floor(sums[i] / (high * wide));
  }
  return sums;
}

/** (h, w) to (h * cell, w * cell), linear between the middles of cells, times (2 * cell)^2 to stay whole. */
function enlarged(plane: Int32Array, cell: number, { height, width }: Size): Int32Array {
  const taps = (size: number) =>
    Array.from({ length: size * cell }, (_, i) => {
      const place = 2 * i + 1 - cell;
      const first = Math.floor(place / (2 * cell));
      const within = (at: number) => Math.min(Math.max(at, 0), size - 1);
      return [within(first), within(first + 1), place - first * 2 * cell] as const;
    });
  const tall = new Int32Array(height * cell * width);
  taps(height).forEach(([low, high, part], y) => {
    for (let x = 0; x < width; x++) {
      tall[y * width + x] = plane[low * width + x] * (2 * cell - part) + plane[high * width + x] * part;
    }
  });
  const out = new Int32Array(height * cell * width * cell);
  const columns = taps(width);
  for (let y = 0, i = 0; y < height * cell; y++) {
    for (const [low, high, part] of columns) {
      out[i++] = tall[y * width + low] * (2 * cell - part) + tall[y * width + high] * part;
    }
  }
  return out;
}
