/** Where to put something beside an object without covering it. In pixels of the shown picture. */

export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** What is where in the picture, in squares of `CELL` pixels. */
export interface Occupied {
  width: number;
  height: number;
  columns: number;
  rows: number;
  /** How many squares above and left of each corner are taken by the object, and by others: (rows + 1) x (columns + 1). */
  object: Uint32Array;
  others: Uint32Array;
  /** Of the object. */
  box: Rect;
}

export const CELL = 4;
/** Between the object and what is beside it, and from there to the picture's edge; less where there is no room. */
const MARGINS = [
  [12, 8],
  [4, 4],
] as const;
/** To lie on another object is as bad as to be so much farther away. */
const OTHERS = 60;

/** `at(x, y)`: what is at a place of the picture: 2 the object, 1 another one, 0 nothing. Null where it is not seen. */
export function occupied(width: number, height: number, at: (x: number, y: number) => number): Occupied | null {
  const [columns, rows] = [Math.ceil(width / CELL), Math.ceil(height / CELL)];
  const wide = columns + 1;
  const [object, others] = [new Uint32Array(wide * (rows + 1)), new Uint32Array(wide * (rows + 1))];
  let [left, top, right, bottom] = [columns, rows, -1, -1];
  for (let row = 0; row < rows; row++) {
    let [mine, theirs] = [0, 0];
    for (let column = 0; column < columns; column++) {
      const what = at((column + 0.5) * CELL, (row + 0.5) * CELL);
      if (what === 2) {
        mine++;
        [left, right] = [Math.min(left, column), Math.max(right, column)];
        [top, bottom] = [Math.min(top, row), row];
      } else theirs += what;
      const i = (row + 1) * wide + column + 1;
      object[i] = object[i - wide] + mine;
      others[i] = others[i - wide] + theirs;
    }
  }
  if (right < 0) return null;
  const box = {
    left: left * CELL,
    top: top * CELL,
    width: (right + 1 - left) * CELL,
    height: (bottom + 1 - top) * CELL,
  };
  return { width, height, columns, rows, object, others, box };
}

/**
 * A place near the object for something that may have one of these sizes, the first best: inside the picture, off the
 * object, and off `taken`. Null where there is none.
 */
export function beside(
  where: Occupied,
  sizes: readonly { width: number; height: number }[],
  taken: readonly Rect[],
): Rect | null {
  for (const [margin, inset] of MARGINS) {
    for (const size of sizes) {
      const place = nearest(where, size, taken, margin, inset);
      if (place) return place;
    }
  }
  return null;
}

function nearest(
  { width, height, columns, rows, object, others, box }: Occupied,
  size: { width: number; height: number },
  taken: readonly Rect[],
  margin: number,
  inset: number,
): Rect | null {
  const count = (sums: Uint32Array, rect: Rect) => {
    const column = (x: number) => Math.min(Math.max(x, 0), columns);
    const row = (y: number) => Math.min(Math.max(y, 0), rows) * (columns + 1);
    const [x0, x1] = [column(Math.floor(rect.left / CELL)), column(Math.ceil((rect.left + rect.width) / CELL))];
    const [y0, y1] = [row(Math.floor(rect.top / CELL)), row(Math.ceil((rect.top + rect.height) / CELL))];
    return sums[y1 + x1] - sums[y1 + x0] - sums[y0 + x1] + sums[y0 + x0];
  };
  let best: { rect: Rect; cost: number } | null = null;
  for (let top = inset; top + size.height + inset <= height; top += CELL) {
    for (let left = inset; left + size.width + inset <= width; left += CELL) {
      const rect = { left, top, ...size };
      if (count(object, grown(rect, margin)) || taken.some((other) => meet(grown(rect, inset / 2), other))) continue;
      const middle = Math.abs(left + size.width / 2 - box.left - box.width / 2);
      const above = top < box.top ? 1 : 0; // below, the hand that presses it hides nothing
      const cost = gap(rect, box) + 0.2 * middle + above + (count(others, rect) ? OTHERS : 0);
      if (!best || cost < best.cost) best = { rect, cost };
    }
  }
  return best && best.rect;
}

function grown({ left, top, width, height }: Rect, by: number): Rect {
  return { left: left - by, top: top - by, width: width + 2 * by, height: height + 2 * by };
}

function meet(a: Rect, b: Rect): boolean {
  const along = (from: number, size: number, other: number, long: number) => from < other + long && other < from + size;
  return along(a.left, a.width, b.left, b.width) && along(a.top, a.height, b.top, b.height);
}

/** How far two are apart. */
function gap(a: Rect, b: Rect): number {
  const along = (from: number, size: number, other: number, long: number) =>
    Math.max(0, other - from - size, from - other - long);
  return Math.hypot(along(a.left, a.width, b.left, b.width), along(a.top, a.height, b.top, b.height));
}
