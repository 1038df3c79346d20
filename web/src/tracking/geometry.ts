/**
 * Between the video's frame and the network's: cut a window out, scale it, pad, and back.
 * The same numbers as the Python package's `tracking/geometry.py`.
 */

export interface Size {
  height: number;
  width: number;
}

/** A part of a frame, in its pixels. */
export interface Box extends Size {
  top: number;
  left: number;
}

/** What a plane is of: so many rows and columns of cells over a part of the frame. */
export interface Raster extends Size {
  box: Box;
}

/** The part of a frame of `height` x `width` that goes through the network, and how. */
export interface Geometry extends Size {
  /** What the network sees of it, without the padding. */
  inner: Size;
  /** With the padding: the size of the network's input. */
  net: Size;
  /** Of the padding. */
  top: number;
  left: number;
  /** The part: the whole frame, or a window. */
  box: Box;
}

const STRIDE = 16;
/** Short side to which smaller frames are enlarged, at most so many times: see `mobilevos/tracking/geometry.py`. */
const SMALLEST = 320;
const MOST_ENLARGED = 4;

/** All of it, with a short side of at most `size`, and where that is possible of SMALLEST. Padded to multiples of 16. */
export function fit({ height, width }: Size, size: number): Geometry {
  const short = Math.min(height, width);
  const factor = Math.min(size, Math.max(short, Math.min(SMALLEST, MOST_ENLARGED * short))) / short;
  const inner = { height: Math.max(1, rounded(height * factor)), width: Math.max(1, rounded(width * factor)) };
  const net = { height: STRIDE * Math.ceil(inner.height / STRIDE), width: STRIDE * Math.ceil(inner.width / STRIDE) };
  const [top, left] = [(net.height - inner.height) >> 1, (net.width - inner.width) >> 1];
  return { height, width, inner, net, top, left, box: boxOfAll({ height, width }) };
}

/** A part of the frame around (x, y), seen `zoom` times as large, at the same cost: inside the frame. */
export function windowOf(whole: Geometry, x: number, y: number, zoom: number): Geometry {
  const height = Math.min(whole.height, Math.max(1, rounded(whole.height / zoom)));
  const width = Math.min(whole.width, Math.max(1, rounded(whole.width / zoom)));
  const top = Math.min(Math.max(0, rounded(y - height / 2)), whole.height - height);
  const left = Math.min(Math.max(0, rounded(x - width / 2)), whole.width - width);
  return { ...whole, box: { top, left, height, width } };
}

/** Pixels of the network for a pixel of the frame. */
export function scaleOf({ inner, box }: Geometry): number {
  return Math.sqrt((inner.height * inner.width) / (box.height * box.width));
}

/** Of the planes that the network gives, without the padding. */
export function rasterOf({ inner, box }: Geometry): Raster {
  return { ...inner, box };
}

/** Over a whole frame. */
export function rasterOfAll(cells: Size, frame: Size): Raster {
  return { height: cells.height, width: cells.width, box: boxOfAll(frame) };
}

function boxOfAll({ height, width }: Size): Box {
  return { top: 0, left: 0, height, width };
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

/** As Python rounds: a half to the even neighbour. */
function rounded(value: number): number {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 ? low + 1 : low;
}
