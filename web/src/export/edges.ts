/**
 * Controls of a mask's edge, as editors know them: specks, holes, growing, and how soft the edge is.
 *
 * The same rules and names as the Python package's `media/edges.py`, and `matte` of `media/overlay.py`;
 * `tests/web/test_edges.py` compares the masks. Ids are height * width bytes, 0 for the background.
 */
import type { Size } from '../tracking/geometry';
import { joinedRuns, type Run } from './runs';

export interface Edges {
  /** Parts of an object with fewer pixels go, but never its largest; null: those that are small beside it. */
  despeckle: number | null;
  /** Holes in an object with fewer pixels are filled. */
  fillHoles: number;
  /** Pixels by which objects grow; they shrink where it is negative. */
  grow: number;
  /** Pixels to either side of the outline over which the edge is soft. */
  feather: number;
}

/** What the package does unless it is told otherwise. */
export const USUAL_EDGES: Edges = { despeckle: null, fillHoles: 0, grow: 0, feather: 1 };

/** Parts of an object below this share of its largest part go by default. */
export const SPECK = 0.005;

/** The same edges in a picture of another size. */
export function scaledEdges({ despeckle, fillHoles, grow, feather }: Edges, scale: number): Edges {
  const area = scale * scale;
  return {
    despeckle: despeckle && despeckle * area,
    fillHoles: fillHoles * area,
    grow: grow * scale,
    feather: feather * scale,
  };
}

/** The ids of one frame without what is too small, grown; marked: by a person, who has looked at it. */
export function cleaned(ids: Uint8Array, size: Size, edges: Edges, marked: boolean): Uint8Array {
  const out = ids.slice();
  if (!marked) {
    dropSpecks(out, size, edges.despeckle);
    fillHoles(out, size, edges.fillHoles);
  }
  return regrown(out, size, edges.grow);
}

/** In place: each object without its parts of fewer than `smallest` pixels; its largest part stays. */
export function dropSpecks(ids: Uint8Array, size: Size, smallest: number | null): void {
  for (const [id, box] of boxesOf(ids, size)) {
    const { runs, sizes } = joinedRuns(box, 1, (i) => ids[i] === id, size.width);
    const largest = Math.max(...sizes);
    const least = smallest === null ? SPECK * largest : Math.min(smallest, largest);
    paint(ids, size, runs, (part) => sizes[part]! < least, 0);
  }
}

/** In place: holes of fewer than `smallest` pixels, background that one object alone surrounds, belong to it. */
export function fillHoles(ids: Uint8Array, size: Size, smallest: number): void {
  if (!smallest) return;
  for (const [id, tight] of boxesOf(ids, size)) {
    const box = widenedBox(tight, 1, size);
    const { runs, sizes } = joinedRuns(box, 0, (i) => ids[i] !== id, size.width);
    const open = new Set<number>();
    for (const { row, start, end, part } of runs) {
      const atRim = row === box.top || row === box.bottom - 1 || start === box.left || end === box.right;
      if (atRim || ids.subarray(row * size.width + start, row * size.width + end).some(Boolean)) open.add(part);
    }
    paint(ids, size, runs, (part) => sizes[part]! < smallest && !open.has(part), id);
  }
}

/** The ids with each object grown or shrunk. No object takes a pixel of another; of two, the nearer one grows. */
export function regrown(ids: Uint8Array, size: Size, pixels: number): Uint8Array {
  if (!pixels) return ids;
  const out = ids.slice();
  const reach = pixels * pixels;
  const nearest = pixels > 0 ? new Float32Array(ids.length).fill(reach) : null;
  for (const [id, tight] of boxesOf(ids, size)) {
    const box = widenedBox(tight, nearest ? Math.ceil(pixels) : 1, size);
    const far = squaredDistances(box, (i) => (nearest ? ids[i] === id : ids[i] !== id), size.width);
    for (let row = box.top, at = 0; row < box.bottom; row++) {
      for (let i = row * size.width + box.left; i < row * size.width + box.right; i++, at++) {
        const d = far[at]!;
        if (!nearest) {
          if (ids[i] === id && d <= reach) out[i] = 0;
        } else if (ids[i] === 0 && d <= nearest[i]! && (out[i] === 0 || d < nearest[i]!)) {
          out[i] = id;
          nearest[i] = d;
        }
      }
    }
  }
  return out;
}

/** How much of each pixel the objects cover, 0..255: the staircase of the ids, smoothed by a Gaussian. */
export function matte(ids: Uint8Array, size: Size, feather: number): Uint8Array<ArrayBuffer> {
  const { height, width } = size;
  const out = new Uint8Array(ids.length);
  const all = boxesOf(ids, size, true).get(1);
  if (!all) return out;
  if (feather <= 0) {
    for (let i = 0; i < ids.length; i++) out[i] = ids[i] ? 255 : 0;
    return out;
  }
  const reach = Math.ceil(2 * feather);
  const weights = gaussian(reach, 0.9 * feather);
  const box = widenedBox(all, reach, size);
  const columns = box.right - box.left;
  const across = new Float32Array((box.bottom - box.top) * columns);
  for (let row = box.top; row < box.bottom; row++)
    blurRow(ids, row * width, width, box, weights, across, row - box.top);
  const line = new Float32Array(columns);
  for (let row = box.top; row < box.bottom; row++) {
    line.fill(0);
    for (let k = -reach; k <= reach; k++) {
      const from = Math.min(Math.max(row + k, 0), height - 1);
      // Rows beyond the box have nothing in them.
      if (from < box.top || from >= box.bottom) continue;
      const start = (from - box.top) * columns;
      const weight = weights[k + reach]!;
      for (let x = 0; x < columns; x++) line[x]! += weight * across[start + x]!;
    }
    const to = row * width + box.left;
    for (let x = 0; x < columns; x++) out[to + x] = 255 * line[x]! + 0.5;
  }
  return out;
}

/** The ring of `width` pixels around what is in a matte, 0..255, soft at its outer edge. */
export function ring(alpha: Uint8Array, size: Size, width: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(alpha.length);
  const ids = alpha.map((value) => (value > 127 ? 1 : 0));
  const tight = boxesOf(ids, size).get(1);
  if (!tight) return out;
  const box = widenedBox(tight, Math.ceil(width) + 1, size);
  const far = squaredDistances(box, (i) => ids[i] === 1, size.width);
  for (let row = box.top, at = 0; row < box.bottom; row++) {
    for (let i = row * size.width + box.left; i < row * size.width + box.right; i++, at++) {
      out[i] = 255 * Math.min(1, Math.max(0, width + 0.5 - Math.sqrt(far[at]!)));
    }
  }
  return out;
}

/** Rows and columns from top and left to before bottom and right. */
export interface Part {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** Where each object is; `together`: all of them as object 1. */
function boxesOf(ids: Uint8Array, { height, width }: Size, together = false): Map<number, Part> {
  const boxes = new Map<number, Part>();
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (!ids[i]) continue;
      const id = together ? 1 : ids[i]!;
      const box = boxes.get(id);
      if (!box) {
        boxes.set(id, { top: y, left: x, bottom: y + 1, right: x + 1 });
        continue;
      }
      box.bottom = y + 1;
      if (x < box.left) box.left = x;
      if (x >= box.right) box.right = x + 1;
    }
  }
  return new Map([...boxes].sort(([a], [b]) => a - b));
}

function widenedBox(box: Part, by: number, { height, width }: Size): Part {
  return {
    top: Math.max(0, box.top - by),
    left: Math.max(0, box.left - by),
    bottom: Math.min(height, box.bottom + by),
    right: Math.min(width, box.right + by),
  };
}

function paint(ids: Uint8Array, { width }: Size, runs: Run[], which: (part: number) => boolean, id: number): void {
  for (const { row, start, end, part } of runs) if (which(part)) ids.fill(id, row * width + start, row * width + end);
}

/** Numbers of a sum of 1, `reach` to either side. */
function gaussian(reach: number, deviation: number): Float64Array {
  const weights = Float64Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-((i - reach) ** 2) / (2 * deviation * deviation)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** One row of what is not 0, blurred; the border repeats. */
function blurRow(
  ids: Uint8Array,
  start: number,
  width: number,
  { left, right }: Part,
  weights: Float64Array,
  out: Float32Array,
  row: number,
): void {
  const reach = weights.length >> 1;
  const to = row * (right - left) - left;
  let same = 0; // pixels in a row up to x + reach that are as the one there
  let last = -1;
  const at = (x: number) => (ids[start + Math.min(Math.max(x, 0), width - 1)] ? 1 : 0);
  for (let x = left - reach; x < left + reach; x++) {
    same = at(x) === last ? same + 1 : 1;
    last = at(x);
  }
  for (let x = left; x < right; x++) {
    const newest = at(x + reach);
    same = newest === last ? same + 1 : 1;
    last = newest;
    if (same >= weights.length) {
      out[to + x] = newest; // far from any edge
      continue;
    }
    let sum = 0;
    for (let k = -reach; k <= reach; k++) if (at(x + k)) sum += weights[k + reach]!;
    out[to + x] = sum;
  }
}

/**
 * Squares of how far each pixel of the box is from the nearest one that `is` says, Infinity where there is none: down
 * the columns first, then along the rows by the lower envelope of parabolas (Felzenszwalb and Huttenlocher, 2012).
 */
function squaredDistances(box: Part, is: (i: number) => boolean, width: number): Float32Array {
  const [rows, columns] = [box.bottom - box.top, box.right - box.left];
  const out = new Float32Array(rows * columns).fill(Infinity);
  for (let x = 0; x < columns; x++) {
    for (const down of [true, false]) {
      let steps = Infinity;
      for (let n = 0; n < rows; n++) {
        const y = down ? n : rows - 1 - n;
        steps = is((box.top + y) * width + box.left + x) ? 0 : steps + 1;
        const at = y * columns + x;
        if (steps * steps < out[at]!) out[at] = steps * steps;
      }
    }
  }
  const line = new Float32Array(columns);
  const peaks = new Int32Array(columns); // where the parabolas of the envelope stand
  const from = new Float64Array(columns + 1); // and from where on each is the lowest
  for (let y = 0; y < rows; y++) {
    line.set(out.subarray(y * columns, (y + 1) * columns));
    let count = 0;
    for (let x = 0; x < columns; x++) {
      if (line[x] === Infinity) continue;
      let meets = -Infinity;
      while (count > 0) {
        const p = peaks[count - 1]!;
        meets = (line[x]! + x * x - line[p]! - p * p) / (2 * (x - p));
        if (meets > from[count - 1]!) break;
        count--;
        meets = -Infinity;
      }
      peaks[count] = x;
      from[count++] = meets;
    }
    if (!count) continue;
    from[count] = Infinity;
    for (let x = 0, n = 0; x < columns; x++) {
      while (from[n + 1]! < x) n++;
      out[y * columns + x] = (x - peaks[n]!) ** 2 + line[peaks[n]!]!;
    }
  }
  return out;
}
