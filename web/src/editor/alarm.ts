/**
 * The drift alarm: where an object is lost, in doubt or taken for another.
 * The same rule and numbers as the Python package's `pipeline/alarm.py`, which says why.
 */
export const ALARM = { DOUBTFUL: 0.5, SHORTEST: 3, GAP: 5 };

/** An object in a frame. */
export interface Row {
  frame: number;
  id: number;
  confidence: number;
  /** The object that it may have been taken for; 0 for none. */
  alike: number;
}

/** What is wrong: nothing was found of it, it was taken for the object `alike`, or (0) neither is known. */
export interface Doubt {
  id: number;
  lost: boolean;
  alike: number;
}

/** Frames in which one object is in doubt. */
export interface Alarm extends Doubt {
  first: number;
  last: number;
}

/** Confidence as the package records it: what is next to nothing is nothing. */
const recorded = (confidence: number) => Math.round(1e4 * confidence) / 1e4;

export function isDoubt(confidence: number): boolean {
  return recorded(confidence) < ALARM.DOUBTFUL;
}

/** Of rows in the order of frames; in the same order. */
export function findAlarms(rows: Iterable<Row>): Alarm[] {
  const open = new Map<number, Row[]>();
  const closed: Row[][] = [];
  for (const row of rows) {
    if (!isDoubt(row.confidence)) continue;
    let stretch = open.get(row.id);
    if (!stretch || row.frame - stretch.at(-1)!.frame > ALARM.GAP) {
      open.set(row.id, (stretch = []));
      closed.push(stretch);
    }
    stretch.push(row);
  }
  return closed
    .filter((stretch) => stretch.length >= ALARM.SHORTEST)
    .map((stretch) => ({ ...doubtOf(stretch), first: stretch[0].frame, last: stretch.at(-1)!.frame }))
    .sort((a, b) => a.first - b.first || a.id - b.id);
}

/** What is the matter in most of some frames of an object. */
export function doubtOf(stretch: readonly Row[]): Doubt {
  const most = (many: number) => many > stretch.length / 2;
  const lost = most(stretch.filter(({ confidence }) => recorded(confidence) === 0).length);
  const others = new Set(stretch.map(({ alike }) => alike));
  const alike = [...others].find((other) => most(stretch.filter((row) => row.alike === other).length)) ?? 0;
  return { id: stretch[0].id, lost, alike: lost ? 0 : alike };
}
