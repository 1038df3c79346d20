/**
 * Soft masks as they are kept: one plane of bytes per object, 0..255, packed.
 *
 * Nearly all of a plane is 0 or 255, so those are stored as runs: the value, then the length in groups of seven bits,
 * lowest first. Any other value stands for itself.
 */
import type { Raster, Size } from './geometry';

export type Packed = Uint8Array<ArrayBuffer>;

export function pack(plane: Uint8Array): Packed {
  const out: number[] = [];
  for (let i = 0; i < plane.length;) {
    const value = plane[i];
    if (value !== 0 && value !== 255) {
      out.push(value);
      i++;
      continue;
    }
    let end = i + 1;
    while (end < plane.length && plane[end] === value) end++;
    let length = end - i;
    out.push(value);
    while (length > 127) {
      out.push((length & 127) | 128);
      length >>>= 7;
    }
    out.push(length);
    i = end;
  }
  return Uint8Array.from(out);
}

export function unpack(packed: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const plane = new Uint8Array(size);
  let to = 0;
  for (let i = 0; i < packed.length;) {
    const value = packed[i++];
    if (value !== 0 && value !== 255) {
      plane[to++] = value;
      continue;
    }
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const part = packed[i++];
      length |= (part & 127) << shift;
      if (part < 128) break;
    }
    if (value) plane.fill(255, to, to + length);
    to += length;
  }
  return plane;
}

/** Which plane wins at each pixel: 0 for none, else 1 + its index. The background has what the planes leave. */
export function winners(planes: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const labels = new Uint8Array(size);
  if (planes.length === 1) {
    const plane = planes[0];
    for (let i = 0; i < size; i++) labels[i] = plane[i] > 127 ? 1 : 0;
    return labels;
  }
  for (let i = 0; i < size; i++) {
    let sum = 0;
    let best = 0;
    let label = 0;
    for (let p = 0; p < planes.length; p++) {
      const value = planes[p][i];
      sum += value;
      if (value > best) {
        best = value;
        label = p + 1;
      }
    }
    labels[i] = best > 255 - sum ? label : 0;
  }
  return labels;
}

/**
 * A plane of one part of the frame as a plane of another, 0 where the first does not reach. Bilinear, with the centres
 * of cells at half coordinates, as OpenCV does it.
 */
export function resample(plane: Uint8Array, from: Raster, to: Raster): Uint8Array<ArrayBuffer> {
  if (isSameRaster(from, to)) return Uint8Array.from(plane);
  const out = new Uint8Array(to.height * to.width);
  const columns = taps(from.width, from.box.left, from.box.width, to.width, to.box.left, to.box.width);
  const rows = taps(from.height, from.box.top, from.box.height, to.height, to.box.top, to.box.height);
  for (let y = rows.first; y < rows.end; y++) {
    const a = rows.low[y] * from.width;
    const b = rows.high[y] * from.width;
    const v = rows.weight[y];
    let at = y * to.width + columns.first;
    for (let x = columns.first; x < columns.end; x++) {
      const [l, r, u] = [columns.low[x], columns.high[x], columns.weight[x]];
      const upper = plane[a + l] + (plane[a + r] - plane[a + l]) * u;
      const lower = plane[b + l] + (plane[b + r] - plane[b + l]) * u;
      out[at++] = upper + (lower - upper) * v + 0.5;
    }
  }
  return out;
}

export function isSameRaster(a: Raster, b: Raster): boolean {
  const same = (p: Size, q: Size) => p.height === q.height && p.width === q.width;
  return same(a, b) && same(a.box, b.box) && a.box.top === b.box.top && a.box.left === b.box.left;
}

interface Taps {
  /** The cells, from the first to before the end, whose centres lie in the part that is known. */
  first: number;
  end: number;
  low: Int32Array;
  high: Int32Array;
  weight: Float32Array;
}

/** Along one side: which two of `count` cells over `length` pixels from `start` on each of the new cells lies between. */
function taps(
  count: number,
  start: number,
  length: number,
  newCount: number,
  newStart: number,
  newLength: number,
): Taps {
  const low = new Int32Array(newCount);
  const high = new Int32Array(newCount);
  const weight = new Float32Array(newCount);
  let [first, end] = [newCount, 0];
  for (let i = 0; i < newCount; i++) {
    const pixel = newStart - start + ((i + 0.5) * newLength) / newCount;
    if (pixel < 0 || pixel >= length) continue;
    first = Math.min(first, i);
    end = i + 1;
    const at = Math.min(Math.max((pixel * count) / length - 0.5, 0), count - 1);
    low[i] = Math.floor(at);
    high[i] = Math.min(low[i] + 1, count - 1);
    weight[i] = at - low[i];
  }
  return { first, end, low, high, weight };
}
