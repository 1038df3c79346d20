/**
 * A tap on an object that has a mask already.
 *
 * What was measured on clips with known masks: where something is missing, the network's own idea of the tapped thing
 * is joined to the mask; where something is too much, only the spot around the tap may change. Anything bolder made
 * some masks worse.
 */
import type { Raster } from './geometry';
import { disc, markRadius, type Point } from './marks';

/** The mask with what was found under the tap added. */
export function joined(before: Uint8Array, found: Uint8Array, tap: Point, raster: Raster): Uint8Array {
  const at = inside(tap, raster);
  const out = found[at.index] > 127 ? before.map((value, i) => Math.max(value, found[i])) : before.slice();
  disc(out, raster, at, at.radius, 255);
  return out;
}

/** The mask without what the network gives up around the tap. */
export function lessened(before: Uint8Array, found: Uint8Array, tap: Point, raster: Raster): Uint8Array {
  const at = inside(tap, raster);
  const out = before.slice();
  const { height, width } = raster;
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
  disc(out, raster, at, at.radius, 0);
  return out;
}

/** A point of the video in a plane of the whole frame. */
function inside(tap: Point, { height, width, box }: Raster): Point & { index: number; radius: number } {
  const scale = width / box.width;
  const x = Math.min(width - 1, tap.x * scale);
  const y = Math.min(height - 1, (tap.y * height) / box.height);
  const index = Math.floor(y) * width + Math.floor(x);
  return { x: x + 0.5, y: y + 0.5, index, radius: markRadius(box.height, box.width) * scale };
}
