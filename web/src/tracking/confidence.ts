/**
 * How far a mask is to be trusted: a calibrated guess of its overlap with the truth, 0..1.
 * The same signs and coefficients as the Python package's `tracking/confidence.py`.
 */
import { scaleOf, type Geometry } from './geometry';

const STEP = 4;
const COEFFICIENTS = {
  certainty: 3.952,
  softness: -0.117,
  change: -0.022,
  scatter: 0.211,
  rating: 0.539,
  constant: -3.423,
};

/** Logits of the rating are bounded by this. */
const MOST_RATING = 6;

/** The logit that stands for a rating that says nothing. */
const USUAL_RATING = 2.296;

/** How many pixels of the frame an object covers that was given as `count` numbers 0..1, one for STEP x STEP pixels. */
export function sizeOf(given: Float32Array, offset: number, count: number, geometry: Geometry): number {
  let cells = 0;
  for (let i = offset; i < offset + count; i++) if (given[i] > 0.5) cells++;
  return cells * cellOf(geometry);
}

/**
 * For each object of probabilities (1 + N, H, W), background first; 0 where it is nowhere.
 * `annotated`: how large each was where it was annotated, in pixels of the frame. `rating`: the network's own.
 */
export function confidences(
  probabilities: Float32Array,
  g: Geometry,
  annotated: readonly number[],
  rating: Float32Array,
): number[] {
  const { net } = g;
  const areas = annotated.map((size) => size / cellOf(g));
  const plane = net.height * net.width;
  const sums = areas.map(() => ({ area: 0, inside: 0, soft: 0, x: 0, y: 0, xx: 0, yy: 0 }));
  for (let row = 0; row < net.height; row += STEP) {
    for (let column = 0; column < net.width; column += STEP) {
      const at = row * net.width + column;
      let best = probabilities[at];
      let winner = -1;
      for (let n = 0; n < areas.length; n++) {
        const p = probabilities[(n + 1) * plane + at];
        sums[n].soft += p * (1 - p);
        if (p > best) {
          best = p;
          winner = n;
        }
      }
      if (winner < 0) continue;
      const sum = sums[winner];
      const [x, y] = [column / STEP, row / STEP];
      sum.area++;
      sum.inside += best;
      sum.x += x;
      sum.y += y;
      sum.xx += x * x;
      sum.yy += y * y;
    }
  }
  return sums.map((s, n) => {
    if (!s.area) return 0;
    const length = Math.sqrt(s.area);
    const variance = s.xx / s.area - (s.x / s.area) ** 2 + s.yy / s.area - (s.y / s.area) ** 2;
    const score =
      COEFFICIENTS.certainty * (s.inside / s.area) +
      COEFFICIENTS.softness * (s.soft / length) +
      COEFFICIENTS.change * Math.abs(Math.log(s.area / Math.max(areas[n], 1))) +
      COEFFICIENTS.scatter * (Math.sqrt(Math.max(variance, 0)) / length) +
      COEFFICIENTS.rating * logit(rating[n]) +
      COEFFICIENTS.constant;
    return 1 / (1 + Math.exp(-score));
  });
}

function logit(rating: number): number {
  if (Number.isNaN(rating) || rating === 0.5) return USUAL_RATING;
  const bounded = Math.min(Math.max(rating, 1e-6), 1 - 1e-6);
  return Math.min(Math.max(Math.log(bounded / (1 - bounded)), -MOST_RATING), MOST_RATING);
}

/** Pixels of the frame for each place that is looked at. */
function cellOf(geometry: Geometry): number {
  return (STEP / scaleOf(geometry)) ** 2;
}
