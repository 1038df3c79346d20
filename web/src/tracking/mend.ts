/**
 * A tap on an object that has a mask already.
 *
 * What was measured on clips with known masks: where something is missing, the network's own idea of the tapped thing
 * is joined to the mask; where something is too much, only the spot around the tap may change. Anything bolder made
 * some masks worse.
 */
import type { Geometry } from './geometry';
import { disc, markRadius, type Point } from './marks';

/** The mask with what was found under the tap added. */
export function joined(before: Uint8Array, found: Uint8Array, tap: Point, g: Geometry): Uint8Array {
  const at = inside(tap, g);
  const out = found[at.index] > 127 ? before.map((value, i) => Math.max(value, found[i])) : before.slice();
  disc(out, g, at, at.radius, 255);
  return out;
}

/** The mask without what the network gives up around the tap. */
export function lessened(before: Uint8Array, found: Uint8Array, tap: Point, g: Geometry): Uint8Array {
  const at = inside(tap, g);
  const out = before.slice();
  const { height, width } = g.inner;
  const open = [at.index];
  const seen = new Uint8Array(before.length);
  while (open.length) {
    const i = open.pop()!;
    if (seen[i] || before[i] <= 127 || found[i] > 127) continue;
    seen[i] = 1;
    out[i] = found[i];
    const x = i % width;
    if (x > 0) open.push(i - 1);
    if (x + 1 < width) open.push(i + 1);
    if (i >= width) open.push(i - width);
    if (i < width * (height - 1)) open.push(i + width);
  }
  disc(out, g, at, at.radius, 0);
  return out;
}

/** A point of the video in the network's inner picture. */
function inside(tap: Point, g: Geometry): Point & { index: number; radius: number } {
  const scale = g.inner.width / g.width;
  const x = Math.min(g.inner.width - 1, tap.x * scale);
  const y = Math.min(g.inner.height - 1, (tap.y * g.inner.height) / g.height);
  const index = Math.floor(y) * g.inner.width + Math.floor(x);
  return { x: x + 0.5, y: y + 0.5, index, radius: markRadius(g.height, g.width) * scale };
}
