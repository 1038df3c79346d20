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
  /** What the network sees at a zoom of 1, without the padding. */
  view: Size;
  /** What it sees of this part: the view, or less of it where the part is wider than that. */
  inner: Size;
  /** With the padding: the size of the network's input, the same for all windows of a frame. */
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

/** Long side of windows against their short one, at most; frames more than twice as wide have windows of half of that. */
const WIDEST = 4 / 3;

/**
 * All of it, with a short side of at most `size`, and where that is possible of SMALLEST. Padded to multiples of 16.
 * `windowed`: it is looked at through windows, which need not be as wide as it is; all of it is then seen smaller.
 */
export function fit({ height, width }: Size, size: number, windowed = false): Geometry {
  const short = Math.min(height, width);
  const factor = Math.min(size, Math.max(short, Math.min(SMALLEST, MOST_ENLARGED * short))) / short;
  const [h, w] = [Math.max(1, rounded(height * factor)), Math.max(1, rounded(width * factor))];
  const wanted = Math.max(WIDEST * Math.min(h, w), Math.max(h, w) / 2);
  const longest = windowed ? STRIDE * Math.max(1, rounded(wanted / STRIDE)) : Infinity;
  const view = { height: Math.min(h, longest), width: Math.min(w, longest) };
  const net = { height: STRIDE * Math.ceil(view.height / STRIDE), width: STRIDE * Math.ceil(view.width / STRIDE) };
  const whole = { height, width, view, inner: view, net, top: 0, left: 0, box: boxOfAll({ height, width }) };
  return windowOf(whole, width / 2, height / 2, widestZoom(whole));
}

/**
 * A part of the frame around (x, y), seen `zoom` times as large, at the same cost: inside the frame. Where a zoom below
 * 1 shows more than there is of one side, the rest of the view is padding.
 */
export function windowOf(whole: Geometry, x: number, y: number, zoom: number): Geometry {
  const sides = sidesOf(whole);
  const [height, rows] = lengths(whole.height, whole.view.height, sides.height, zoom);
  const [width, columns] = lengths(whole.width, whole.view.width, sides.width, zoom);
  const top = Math.min(Math.max(0, rounded(y - height / 2)), whole.height - height);
  const left = Math.min(Math.max(0, rounded(x - width / 2)), whole.width - width);
  return shown(whole, { height: rows, width: columns, box: { top, left, height, width } });
}

/** How much is seen of a side of the frame, and at which length. */
function lengths(length: number, seen: number, side: number, zoom: number): [number, number] {
  const part = Math.max(1, rounded(side / zoom));
  return [Math.min(length, part), part <= length ? seen : Math.max(1, rounded((seen * length * zoom) / side))];
}

/** The same with windows as wide as the frame. */
export function widened(whole: Geometry): Geometry {
  return fit(whole, Math.min(whole.view.height, whole.view.width));
}

/** The window that a raster is of. */
export function shown(whole: Geometry, { height, width, box }: Raster): Geometry {
  const [top, left] = [(whole.net.height - height) >> 1, (whole.net.width - width) >> 1];
  return { ...whole, inner: { height, width }, top, left, box };
}

/** Whether a raster is of one of a frame's windows: they fill the view, at least one way. */
export function isOf({ view }: Geometry, { height, width }: Size): boolean {
  return height <= view.height && width <= view.width && (height === view.height || width === view.width);
}

/** Pixels of the network for a pixel of the frame at a zoom of 1. */
export function unitOf({ height, width, view }: Geometry): number {
  return Math.max(view.height / height, view.width / width);
}

/** What is seen at a zoom of 1, in pixels of the frame. */
export function sidesOf(whole: Geometry): Size {
  const unit = unitOf(whole);
  const side = (length: number, seen: number) => (Math.abs(seen - length * unit) <= 1 ? length : seen / unit);
  return { height: side(whole.height, whole.view.height), width: side(whole.width, whole.view.width) };
}

/** The zoom that shows all of the frame: 1, or less where the view is not as wide as the frame. */
export function widestZoom(whole: Geometry): number {
  const sides = sidesOf(whole);
  return Math.min(sides.height / whole.height, sides.width / whole.width);
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
