/**
 * What the annotated frame says of another one by their keys alone.
 * The same as the Python package's `tracking/recall.py`, which says why.
 */
import type { Size } from './geometry';

/** What the numbers mean is said beside those of the same names in `tracking/recall.py`. */
export const CELL = 16;
export const EVERY = 2;

/** What of an annotated frame is compared: some of its cells, their keys and how much objects cover of them. */
export interface Annotated {
  /** A key after the other. */
  keys: Float32Array;
  /** The square of each key's length. */
  squares: Float32Array;
  /** (N, cells) */
  covered: Float32Array[];
}

/** The numbers of the cells (of a grid of `size`) that are compared. */
export function someCells({ height, width }: Size): number[] {
  const some = [];
  for (let y = 0; y < height; y += EVERY) for (let x = 0; x < width; x += EVERY) some.push(y * width + x);
  return some;
}

/** The keys of some cells, one after the other, of a memory's keys (channels, slots, cells). */
export function keysOf(
  keys: Float32Array,
  { slot, slots, cells }: { slot: number; slots: number; cells: number },
  some: readonly number[],
): Float32Array {
  const channels = keys.length / (slots * cells);
  const out = new Float32Array(some.length * channels);
  for (let channel = 0; channel < channels; channel++) {
    const from = (channel * slots + slot) * cells;
    for (let i = 0; i < some.length; i++) out[i * channels + channel] = keys[from + some[i]];
  }
  return out;
}

export function annotatedCells(keys: Float32Array, covered: Float32Array[]): Annotated {
  const count = covered[0].length;
  const channels = keys.length / count;
  const squares = Float32Array.from({ length: count }, (_, i) => {
    let sum = 0;
    for (let c = i * channels; c < (i + 1) * channels; c++) sum += keys[c] ** 2;
    return sum;
  });
  return { keys, squares, covered };
}

/** How much some cells of a frame, by their keys, look like each object where it was annotated, 0..1: (N, cells). */
export function alike(keys: Float32Array, { keys: stored, squares, covered }: Annotated): Float32Array[] {
  const channels = stored.length / squares.length;
  const count = keys.length / channels;
  const out = covered.map(() => new Float32Array(count));
  const scores = new Float32Array(squares.length);
  for (let i = 0; i < count; i++) {
    let most = -Infinity;
    for (let j = 0; j < scores.length; j++) {
      let product = 0;
      for (let c = 0; c < channels; c++) product += keys[i * channels + c] * stored[j * channels + c];
      scores[j] = (2 * product - squares[j]) / Math.sqrt(channels);
      most = Math.max(most, scores[j]);
    }
    let total = 0;
    for (let j = 0; j < scores.length; j++) total += scores[j] = Math.exp(scores[j] - most);
    covered.forEach((share, n) => {
      let sum = 0;
      for (let j = 0; j < scores.length; j++) sum += scores[j] * share[j];
      out[n][i] = sum / total;
    });
  }
  return out;
}
