/**
 * Soft masks as they are kept: one plane of bytes per object, 0..255, packed.
 *
 * Nearly all of a plane is 0 or 255, so those are stored as runs: the value, then the length in groups of seven bits,
 * lowest first. Any other value stands for itself.
 */

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

/** Bilinear, with pixel centres at half coordinates, as OpenCV does it. */
export function resizePlane(
  plane: Uint8Array,
  from: { height: number; width: number },
  to: { height: number; width: number },
): Uint8Array<ArrayBuffer> {
  if (from.height === to.height && from.width === to.width) return Uint8Array.from(plane);
  const out = new Uint8Array(to.height * to.width);
  const [x0, x1, wx] = taps(from.width, to.width);
  const [y0, y1, wy] = taps(from.height, to.height);
  let at = 0;
  for (let y = 0; y < to.height; y++) {
    const a = y0[y] * from.width;
    const b = y1[y] * from.width;
    const v = wy[y];
    for (let x = 0; x < to.width; x++) {
      const [l, r, u] = [x0[x], x1[x], wx[x]];
      const upper = plane[a + l] + (plane[a + r] - plane[a + l]) * u;
      const lower = plane[b + l] + (plane[b + r] - plane[b + l]) * u;
      out[at++] = upper + (lower - upper) * v + 0.5;
    }
  }
  return out;
}

function taps(from: number, to: number): [Int32Array, Int32Array, Float32Array] {
  const low = new Int32Array(to);
  const high = new Int32Array(to);
  const weight = new Float32Array(to);
  for (let i = 0; i < to; i++) {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1);
    low[i] = Math.floor(at);
    high[i] = Math.min(low[i] + 1, from - 1);
    weight[i] = at - low[i];
  }
  return [low, high, weight];
}
