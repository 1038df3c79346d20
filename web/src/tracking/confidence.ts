/**
 * How far a mask is to be trusted: a calibrated guess of its overlap with the truth, 0..1.
 * The same cues and coefficients as the Python package's `tracking/confidence.py`, which says why.
 */
import type { Geometry } from './geometry';
import { CELL, EVERY } from './recall';

const STEP = 4;

/** Where one object is followed, where several are, and where a mask was made from marks. */
const ALONE = { softness: -0.022, astray: -1.734, rating: 0.591, confused: 0, constant: 1.206 };
const AMONG = { softness: 0, astray: 0, rating: 1.262, confused: -1.014, constant: -1.248 };
const PROPOSED = { softness: 0, astray: 0, rating: 1.048, confused: 0, constant: -0.443 };

/** Cells; where less than this looks like the object, that tells nothing. */
const LEAST_ALIKE = 0.05;

/** Logits of the rating are bounded by this. */
const MOST_RATING = 6;

/** The logit that stands for a rating that says nothing, and the share for an object that nothing looks like. */
const USUAL = { rating: 1.879, astray: 0.617 };

/**
 * For each object of probabilities (1 + N, H, W), background first; 0 where it is nowhere. `rating`: the network's own.
 * `alike`: for each object how much some cells look like it, see `recall.ts`; null where a mask was made from marks.
 */
export function confidences(
  probabilities: Float32Array,
  { net }: Geometry,
  objects: number,
  rating: Float32Array,
  alike: readonly Float32Array[] | null,
): number[] {
  const plane = net.height * net.width;
  const across = net.width / CELL;
  const sums = Array.from({ length: objects }, () => ({
    area: 0,
    soft: 0,
    cells: new Float32Array(plane / CELL ** 2),
  }));
  for (let row = 0; row < net.height; row += STEP) {
    for (let column = 0; column < net.width; column += STEP) {
      const at = row * net.width + column;
      let best = probabilities[at];
      let winner = -1;
      for (let n = 0; n < objects; n++) {
        const p = probabilities[(n + 1) * plane + at];
        sums[n].soft += p * (1 - p);
        if (p > best) {
          best = p;
          winner = n;
        }
      }
      if (winner < 0) continue;
      sums[winner].area++;
      sums[winner].cells[Math.floor(row / CELL) * across + Math.floor(column / CELL)] += (STEP / CELL) ** 2;
    }
  }
  const table = !alike ? PROPOSED : objects === 1 ? ALONE : AMONG;
  return sums.map(({ area, soft, cells }, n) => {
    if (!area) return 0;
    const { astray, confused } = likeness(alike, n, cells, across);
    const score =
      table.softness * (soft / Math.sqrt(area)) +
      table.astray * astray +
      table.rating * logit(rating[n]) +
      table.confused * confused +
      table.constant;
    return 1 / (1 + Math.exp(-score));
  });
}

/**
 * The share of what looks like an object that is outside of its mask, which covers so much of each cell, and how much
 * what is inside of it looks like the other objects.
 */
function likeness(
  alike: readonly Float32Array[] | null,
  number: number,
  cells: Float32Array,
  across: number,
): { astray: number; confused: number } {
  if (!alike) return { astray: USUAL.astray, confused: 0 };
  const some = Math.ceil(across / EVERY);
  let [total, inside, area, others] = [0, 0, 0, 0];
  alike[number].forEach((own, i) => {
    const covered = cells[EVERY * (Math.floor(i / some) * across + (i % some))];
    total += own;
    inside += own * covered;
    area += covered;
    others += alike.reduce((sum, look) => sum + look[i], -own) * covered;
  });
  return {
    astray: total < LEAST_ALIKE ? USUAL.astray : 1 - inside / total,
    confused: area < LEAST_ALIKE ? 0 : others / area,
  };
}

function logit(rating: number): number {
  if (Number.isNaN(rating) || rating === 0.5) return USUAL.rating;
  const bounded = Math.min(Math.max(rating, 1e-6), 1 - 1e-6);
  return Math.min(Math.max(Math.log(bounded / (1 - bounded)), -MOST_RATING), MOST_RATING);
}
