export interface Timing {
  /** Seconds. */
  timestamp: number;
  /** Seconds. */
  duration: number;
}

/**
 * The times of frames in whole milliseconds, the only ones WebM has: begin and end are rounded, not begin and length,
 * so that frames that touch still do and nothing drifts. Two frames never get the same time, and none comes before 0.
 */
export function millisecondTiming(timestamps: number[], durations: number[]): Timing[] {
  const shift = Math.min(0, timestamps[0] ?? 0);
  let last = -1;
  return timestamps.map((time, i) => {
    const begin = Math.max(Math.round(1000 * (time - shift)), last + 1);
    const end = Math.round(1000 * (time - shift + durations[i]!));
    last = begin;
    return { timestamp: begin / 1000, duration: Math.max(0, end - begin) / 1000 };
  });
}
