/** Between the video's frame and the network's: scale down, pad, and back. */

export interface Size {
  height: number;
  width: number;
}

/** A frame of `height` x `width` as it goes through the network. */
export interface Geometry extends Size {
  /** What the network sees of it, without the padding. */
  inner: Size;
  /** With the padding: the size of the network's input. */
  net: Size;
  top: number;
  left: number;
}

const STRIDE = 16;
/** Short side to which smaller frames are enlarged, at most so many times: see `mobilevos/tracking/geometry.py`. */
const SMALLEST = 320;
const MOST_ENLARGED = 4;

/** A short side of at most `size`, and where that is possible of SMALLEST. Padded evenly to multiples of 16. */
export function fit(frame: Size, size: number): Geometry {
  const short = Math.min(frame.height, frame.width);
  const factor = Math.min(size, Math.max(short, Math.min(SMALLEST, MOST_ENLARGED * short))) / short;
  const height = Math.max(1, Math.round(frame.height * factor));
  const width = Math.max(1, Math.round(frame.width * factor));
  const net = { height: STRIDE * Math.ceil(height / STRIDE), width: STRIDE * Math.ceil(width / STRIDE) };
  const [top, left] = [(net.height - height) >> 1, (net.width - width) >> 1];
  return { ...frame, inner: { height, width }, net, top, left };
}

/** RGBA pixels (inner size) as the network's RGB input, edges repeated into the padding. */
export function padFrame(rgba: Uint8ClampedArray, g: Geometry, rgb: Float32Array): void {
  const { inner, net, top, left } = g;
  let at = 0;
  for (let y = 0; y < net.height; y++) {
    const row = clamp(y - top, inner.height) * inner.width;
    for (let x = 0; x < net.width; x++) {
      const from = 4 * (row + clamp(x - left, inner.width));
      rgb[at++] = rgba[from];
      rgb[at++] = rgba[from + 1];
      rgb[at++] = rgba[from + 2];
    }
  }
}

/** The mean of 4 x 4 pixels of a padded plane (inner size, 0..255), as numbers 0..1 at a quarter of the net's size. */
export function reducePlane(plane: Uint8Array, g: Geometry, out: Float32Array, offset: number, strength = 1): void {
  const { inner, net, top, left } = g;
  const [h, w] = [net.height / 4, net.width / 4];
  const columns = Int32Array.from({ length: net.width }, (_, x) => clamp(x - left, inner.width));
  out.fill(0, offset, offset + h * w);
  for (let y = 0; y < net.height; y++) {
    const row = clamp(y - top, inner.height) * inner.width;
    const to = offset + (y >> 2) * w;
    for (let x = 0; x < net.width; x++) out[to + (x >> 2)] += plane[row + columns[x]];
  }
  const factor = strength / (255 * 16);
  for (let i = offset; i < offset + h * w; i++) out[i] *= factor;
}

function clamp(i: number, size: number): number {
  return i < 0 ? 0 : i >= size ? size - 1 : i;
}
