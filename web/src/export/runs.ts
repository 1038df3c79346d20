/** Connected parts of a mask, found row by row: a few runs instead of millions of pixels. */
import type { Part } from './edges';

/** Columns from `start` to before `end` of a row; `part` is the connected part that they belong to. */
export interface Run {
  row: number;
  start: number;
  end: number;
  part: number;
}

/**
 * The runs of what is inside of a box, and how many pixels each connected part has. Corners connect where `corner`
 * is 1; where it is 0, only sides do.
 */
export function joinedRuns(
  { top, left, bottom, right }: Part,
  corner: 0 | 1,
  inside: (i: number) => boolean,
  width: number,
): { runs: Run[]; sizes: number[] } {
  const runs: Run[] = [];
  const parent: number[] = [];
  const root = (n: number): number => {
    while (parent[n] !== n) n = parent[n] = parent[parent[n]!]!;
    return n;
  };
  let above = 0; // the first run of the row before
  for (let row = top; row < bottom; row++) {
    const begin = runs.length;
    let up = above;
    for (let x = left; x < right; x++) {
      if (!inside(row * width + x)) continue;
      const start = x;
      while (x < right && inside(row * width + x)) x++;
      const number = runs.length;
      parent.push(number);
      runs.push({ row, start, end: x, part: 0 });
      while (up < begin && runs[up]!.end + corner <= start) up++;
      for (let other = up; other < begin && runs[other]!.start < x + corner; other++) {
        parent[root(other)] = root(number);
      }
    }
    above = begin;
  }
  const names = new Map<number, number>();
  const sizes: number[] = [];
  runs.forEach((run, n) => {
    const top = root(n);
    if (!names.has(top)) names.set(top, names.size);
    run.part = names.get(top)!;
    sizes[run.part] = (sizes[run.part] ?? 0) + run.end - run.start;
  });
  return { runs, sizes };
}
