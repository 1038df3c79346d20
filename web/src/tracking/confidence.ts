/**
 * How far a mask is to be trusted: a calibrated guess of its overlap with the truth, 0..1.
 * The same cues and coefficients as the Python package's `tracking/confidence.py`, which says why.
 */
import type { Geometry } from './geometry';
import { CELL, EVERY } from './recall';

const STEP = 4;

/** Where one object is followed, where several are, and where a mask was made from marks. */
const ALONE = { softness: -0.016, astray: -0.838, rating: 0.525, confused: 0, constant: 0.94 };
const AMONG = { softness: 0, astray: 0, rating: 1.197, confused: -0.932, constant: -1.148 };
const PROPOSED = { softness: 0, astray: 0, rating: 1.048, confused: 0, constant: -0.443 };

/** Cells; where less than this looks like the object, that tells nothing. */
const LEAST_ALIKE = 0.05;

/** Logits of the rating are bounded by this. */
const MOST_RATING = 6;

/** The logit that stands for a rating that says nothing, and the share for an object that nothing looks like. */
const USUAL = { rating: 1.969, astray: 0.597 };

/** How far each object's mask is to be trusted, and what it may have been taken for. */
export interface Trust {
  /** 0..1; 0 where the object is nowhere. */
  confidence: number[];
  /** Which of the objects (0, 1, ...) what is inside of the mask looks more like than like its own; null for none. */
  alike: (number | null)[];
}

/**
 * Of each object of probabilities (1 + N, H, W), background first. `rating`: the network's own.
 * `alike`: for each object how much some cells look like it, see `recall.ts`; null where a mask was made from marks.
 */
export function confidences(
  probabilities: Float32Array,
  { net }: Geometry,
  objects: number,
  rating: Float32Array,
  alike: readonly Float32Array[] | null,
): Trust {
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
  const looks = sums.map(({ cells }, n) => likeness(alike, n, cells, across));
  const confidence = sums.map(({ area, soft }, n) => {
    if (!area) return 0;
    const { astray, confused } = looks[n];
    const score =
      table.softness * (soft / Math.sqrt(area)) +
      table.astray * astray +
      table.rating * logit(rating[n]) +
      table.confused * confused +
      table.constant;
    return 1 / (1 + Math.exp(-score));
  });
  return { confidence, alike: looks.map(({ other }) => other) };
}

/**
 * The share of what looks like an object that is outside of its mask, which covers so much of each cell, how much what
 * is inside of it looks like the other objects, and the one it looks more like than like its own.
 */
function likeness(
  alike: readonly Float32Array[] | null,
  number: number,
  cells: Float32Array,
  across: number,
): { astray: number; confused: number; other: number | null } {
  if (!alike) return { astray: USUAL.astray, confused: 0, other: null };
  const some = Math.ceil(across / EVERY);
  let [total, area] = [0, 0];
  const inside = alike.map(() => 0);
  alike[number].forEach((own, i) => {
    const covered = cells[EVERY * (Math.floor(i / some) * across + (i % some))];
    total += own;
    area += covered;
    alike.forEach((look, n) => (inside[n] += look[i] * covered));
  });
  const all = inside.reduce((sum, each) => sum + each, 0);
  const most = inside.indexOf(Math.max(...inside));
  return {
    astray: total < LEAST_ALIKE ? USUAL.astray : 1 - inside[number] / total,
    confused: area < LEAST_ALIKE ? 0 : (all - inside[number]) / area,
    other: area < LEAST_ALIKE || most === number ? null : most,
  };
}

function logit(rating: number): number {
  if (Number.isNaN(rating) || rating === 0.5) return USUAL.rating;
  const bounded = Math.min(Math.max(rating, 1e-6), 1 - 1e-6);
  return Math.min(Math.max(Math.log(bounded / (1 - bounded)), -MOST_RATING), MOST_RATING);
}
