/**
 * Where to look: a window that follows the objects and shows them at the size the network knows best.
 *
 * The same rule as the Python package's `tracking/window.py`, number for number: `tests/web/test_window.py` compares
 * them. All objects share one, so that one graph with one memory runs once a frame.
 */
import { scaleOf, sidesOf, unitOf, widestZoom, windowOf, type Geometry, type Raster, type Size } from './geometry';

/** What the numbers mean is said beside those of the same names in `tracking/window.py`. */
export const WINDOW = {
  TARGET: 130,
  MOST_ZOOM: 2.2,
  LARGEST_SHARE: 0.5,
  MOST_OF_VIEW: 0.9,
  ROOMY: 0.7,
  CLOSER: 1.1,
  FARTHER: 1.1,
  GIVE_ROOM: 1.4,
  SEARCH: 2.2,
  TRUSTED: 0.35,
  SMOOTH: 0.25,
  CUT: 0.6,
  STEP: 4,
} as const;

/** Share of the window's sides within which objects are too close to its border. */
const TIGHT = 0.06;

export type Pair = readonly [x: number, y: number];

/** Where objects are in the frame, in its pixels. */
export interface Extent {
  left: number;
  top: number;
  right: number;
  bottom: number;
  area: number;
}

/** Where to look in the next frame, and why. */
export interface LookAhead {
  x: number;
  y: number;
  zoom: number;
  /** Of the objects' centre, a frame. */
  speed: Pair;
  /** Of the objects' width and height, a frame. */
  growth: Pair;
  /** Where they were seen last. */
  extent: Extent | null;
}

/** The window itself. */
export function windowAt(whole: Geometry, look: LookAhead): Geometry {
  return windowOf(whole, look.x, look.y, look.zoom);
}

/** How close to look at objects that need this much room, each way, around their box. */
export function closestZoom(whole: Geometry, extent: Extent, room: Pair = [0, 0]): number {
  const wanted = WINDOW.TARGET / (Math.sqrt(Math.max(extent.area, 1)) * unitOf(whole));
  const across = Math.max(1, extent.right - extent.left + 2 * room[0]);
  const down = Math.max(1, extent.bottom - extent.top + 2 * room[1]);
  const fits = WINDOW.LARGEST_SHARE * Math.min(whole.width / across, whole.height / down);
  const sides = sidesOf(whole);
  const most = WINDOW.MOST_OF_VIEW * Math.min(sides.width / across, sides.height / down);
  return Math.max(widestZoom(whole), Math.min(Math.max(1, Math.min(wanted, fits, WINDOW.MOST_ZOOM)), most));
}

/** Whether windows that are not as wide as the frame will do for objects that begin like this; several may move apart. */
export function isRoomy(whole: Geometry, extents: readonly (Extent | null)[]): boolean {
  if (extents.length !== 1 || !extents[0]) return false;
  const [{ height, width }, { left, top, right, bottom }] = [sidesOf(whole), extents[0]];
  return right - left <= WINDOW.ROOMY * width && bottom - top <= WINDOW.ROOMY * height;
}

/** Around objects that have just been marked. */
export function firstLook(whole: Geometry, extent: Extent | null): LookAhead {
  if (!extent) return wholeFrame(whole);
  const [x, y] = centre(extent);
  return { x, y, zoom: closestZoom(whole, extent), speed: [0, 0], growth: [0, 0], extent };
}

/** When nothing is known: all of the frame, or the middle of one that is wider than the window. */
export function wholeFrame(whole: Geometry): LookAhead {
  return { x: whole.width / 2, y: whole.height / 2, zoom: 1, speed: [0, 0], growth: [0, 0], extent: null };
}

/** At what is marked and has no size yet: with all around it that the window shows without coming close. */
export function lookAround(whole: Geometry, extent: Extent | null): LookAhead {
  if (!extent) return wholeFrame(whole);
  const [x, y] = centre(extent);
  return { x, y, zoom: Math.min(1, closestZoom(whole, extent)), speed: [0, 0], growth: [0, 0], extent: null };
}

/** After a step that has found the objects there, or nothing that can be trusted. */
export function nextLook(whole: Geometry, last: LookAhead, found: Extent | null): LookAhead {
  const widest = widestZoom(whole);
  if (!found) return searched(whole, last);
  let { speed, growth } = last;
  const [x, y] = centre(found);
  if (last.extent) {
    const before = last.extent;
    const [x0, y0] = centre(before);
    speed = mixed(speed, [x - x0, y - y0]);
    growth = mixed(growth, [
      found.right - found.left - (before.right - before.left),
      found.bottom - found.top - (before.bottom - before.top),
    ]);
  }
  const room: Pair = [Math.abs(speed[0]) + Math.max(0, growth[0]), Math.abs(speed[1]) + Math.max(0, growth[1])];
  const wanted = closestZoom(whole, found, room);
  const farther = isTight(whole, last, found) ? WINDOW.GIVE_ROOM : WINDOW.FARTHER;
  const zoom = Math.max(widest, Math.min(Math.max(wanted, last.zoom / farther), last.zoom * WINDOW.CLOSER));
  return { x: x + speed[0], y: y + speed[1], zoom, speed, growth, extent: found };
}

/** Where to look for objects that are lost: in ever more of the frame, then on either side of it in turns. */
function searched(whole: Geometry, last: LookAhead): LookAhead {
  const still = { ...last, speed: [0, 0] as Pair, growth: [0, 0] as Pair };
  if (last.zoom > 1) return { ...still, zoom: Math.max(1, last.zoom / WINDOW.SEARCH) };
  const sides = sidesOf(whole);
  const across = (at: number, length: number, side: number) => (at <= length / 2 ? length - side / 2 : side / 2);
  const x = across(last.x, whole.width, sides.width);
  return { ...still, x, y: across(last.y, whole.height, sides.height), zoom: 1 };
}

/**
 * Of the cells in which something is `inside`, every STEP-th of the network's pixels each way: the result has the
 * pixels of the frame. Null where there is none.
 */
export function extentOf(inside: (cell: number) => boolean, g: Geometry): Extent | null {
  const { net, inner, box } = g;
  const [rows, columns] = [Math.ceil(net.height / WINDOW.STEP), Math.ceil(net.width / WINDOW.STEP)];
  const cells = covered(inside, { height: rows, width: columns });
  if (!cells) return null;
  const [fx, fy] = [box.width / inner.width, box.height / inner.height];
  const across = (cell: number) => box.left + within((cell * WINDOW.STEP - g.left) * fx, box.width);
  const down = (cell: number) => box.top + within((cell * WINDOW.STEP - g.top) * fy, box.height);
  return {
    left: across(cells.left),
    top: down(cells.top),
    right: across(cells.right),
    bottom: down(cells.bottom),
    area: cells.area * (WINDOW.STEP / scaleOf(g)) ** 2,
  };
}

/** Of what is drawn in a plane: the cells that are `inside`; null where none is. */
export function extentOfMask(inside: (cell: number) => boolean, raster: Raster): Extent | null {
  const cells = covered(inside, raster);
  if (!cells) return null;
  const { box } = raster;
  const [fx, fy] = [box.width / raster.width, box.height / raster.height];
  return {
    left: box.left + cells.left * fx,
    top: box.top + cells.top * fy,
    right: box.left + cells.right * fx,
    bottom: box.top + cells.bottom * fy,
    area: cells.area * fx * fy,
  };
}

/** The bounds of what is inside, and how many cells that are. */
function covered(inside: (cell: number) => boolean, { height, width }: Size): Extent | null {
  let [left, right, top, bottom, area] = [width, 0, height, 0, 0];
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (!inside(i)) continue;
      area++;
      if (x < left) left = x;
      if (x >= right) right = x + 1;
      if (y < top) top = y;
      bottom = y + 1;
    }
  }
  return area ? { left, top, right, bottom, area } : null;
}

/** One extent of several; the area is the mean, because it stands for how large objects are. Null of none. */
export function joinedExtents(extents: readonly Extent[]): Extent | null {
  if (!extents.length) return null;
  return {
    left: Math.min(...extents.map((extent) => extent.left)),
    top: Math.min(...extents.map((extent) => extent.top)),
    right: Math.max(...extents.map((extent) => extent.right)),
    bottom: Math.max(...extents.map((extent) => extent.bottom)),
    area: extents.reduce((sum, extent) => sum + extent.area, 0) / extents.length,
  };
}

/** One pixel in so many, each way, tells a frame's palette. */
export function paletteStep({ height, width }: Size): number {
  return Math.max(1, Math.floor(Math.min(height, width) / 48));
}

/** How often colours occur in a frame (RGBA): 512 numbers that sum to 1. */
export function paletteOf(rgba: Uint8ClampedArray, { height, width }: Size): Float32Array {
  const step = paletteStep({ height, width });
  const palette = new Float32Array(512);
  let count = 0;
  for (let y = 0; y < height; y += step) {
    for (let x = 0; x < width; x += step, count++) {
      const at = 4 * (y * width + x);
      palette[((rgba[at] >> 5) << 6) | ((rgba[at + 1] >> 5) << 3) | (rgba[at + 2] >> 5)]++;
    }
  }
  return palette.map((times) => times / count);
}

/** Whether the film has cut to another shot, by the palettes of two frames. */
export function isCut(before: Float32Array, now: Float32Array): boolean {
  let common = 0;
  for (let i = 0; i < before.length; i++) common += Math.min(before[i], now[i]);
  return common < WINDOW.CUT;
}

function centre({ left, top, right, bottom }: Extent): Pair {
  return [(left + right) / 2, (top + bottom) / 2];
}

function mixed(old: Pair, now: Pair): Pair {
  const mix = (a: number, b: number) => (1 - WINDOW.SMOOTH) * a + WINDOW.SMOOTH * b;
  return [mix(old[0], now[0]), mix(old[1], now[1])];
}

function within(value: number, length: number): number {
  return Math.min(Math.max(0, value), length);
}

/** Whether objects come close to a border of the window that is not the frame's. */
function isTight(whole: Geometry, last: LookAhead, found: Extent): boolean {
  const { top, left, height, width } = windowAt(whole, last).box;
  const [marginX, marginY] = [TIGHT * width, TIGHT * height];
  return (
    (left > 0 && found.left < left + marginX) ||
    (top > 0 && found.top < top + marginY) ||
    (left + width < whole.width && found.right > left + width - marginX) ||
    (top + height < whole.height && found.bottom > top + height - marginY)
  );
}
