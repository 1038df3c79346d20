/** Rough marks, as people make them, drawn the way the network learned to read them (`tracking/prompts.py`). */
import type { Geometry, Size } from './geometry';

/** Marks enter the memory at half strength, so that the network can tell a rough mark from a mask. */
export const PROMPT_STRENGTH = 0.5;

export interface Point {
  x: number;
  y: number;
}

/** What was marked for one object in one frame, in pixels of the video. */
export interface Marks {
  on: Point[];
  off: Point[];
  box: { x: number; y: number; width: number; height: number } | null;
  strokes: Point[][];
}

export function noMarks(): Marks {
  return { on: [], off: [], box: null, strokes: [] };
}

/** Radius of a click and half the width of a stroke, in pixels of the video: see `mark_radius` in `tracking/prompts.py`. */
export function markRadius(height: number, width: number): number {
  return Math.max(1, Math.round(0.01 * Math.min(height, width)));
}

/** Marks as the network sees them, as planes of its inner size: what is the object, and what is not. */
export function drawMarks(marks: Marks, g: Geometry): { on: Uint8Array; off: Uint8Array } {
  const { inner, box: part } = g;
  const [sx, sy] = [inner.width / part.width, inner.height / part.height];
  const on = new Uint8Array(inner.height * inner.width);
  const off = new Uint8Array(inner.height * inner.width);
  const radius = (markRadius(g.height, g.width) + 0.5) * sx; // from the middle of a pixel to the edge of the last
  const scaled = (p: Point) => ({ x: (p.x - part.left + 0.5) * sx, y: (p.y - part.top + 0.5) * sy });
  if (marks.box) {
    const { x, y, width, height } = marks.box;
    const across = (value: number) => Math.min(inner.width, Math.max(0, Math.round((value - part.left) * sx)));
    const down = (value: number) => Math.min(inner.height, Math.max(0, Math.round((value - part.top) * sy)));
    const [left, right, bottom] = [across(x), across(x + width), down(y + height)];
    for (let row = down(y); row < bottom; row++) on.fill(255, row * inner.width + left, row * inner.width + right);
  }
  for (const point of marks.on) disc(on, inner, scaled(point), radius, 255);
  for (const point of marks.off) disc(off, inner, scaled(point), radius, 255);
  for (const stroke of marks.strokes) line(on, inner, stroke.map(scaled), radius, 255);
  return { on, off };
}

/** A filled circle; coordinates in cells of the plane. */
export function disc(plane: Uint8Array, { height, width }: Size, centre: Point, radius: number, value: number): void {
  const first = Math.max(0, Math.ceil(centre.y - radius - 0.5));
  const last = Math.min(height - 1, Math.floor(centre.y + radius - 0.5));
  for (let row = first; row <= last; row++) {
    const half = Math.sqrt(Math.max(0, radius * radius - (row + 0.5 - centre.y) ** 2));
    const left = Math.max(0, Math.round(centre.x - half));
    const right = Math.min(width, Math.round(centre.x + half));
    if (left < right) plane.fill(value, row * width + left, row * width + right);
  }
}

/** A stroke with round ends. */
export function line(plane: Uint8Array, size: Size, points: readonly Point[], radius: number, value: number): void {
  points.forEach((point, index) => {
    const from = index ? points[index - 1] : point;
    const steps = Math.max(1, Math.ceil(Math.hypot(point.x - from.x, point.y - from.y) / Math.max(1, radius / 3)));
    for (let s = index ? 1 : steps; s <= steps; s++) {
      const t = s / steps;
      disc(plane, size, { x: from.x + (point.x - from.x) * t, y: from.y + (point.y - from.y) * t }, radius, value);
    }
  });
}
