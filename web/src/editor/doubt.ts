/** Where a person should look, and why. */
import { doubtOf, findAlarms, isDoubt, type Alarm, type Doubt, type Row } from './alarm';
import type { Session } from './session';
import { alikeOf, type FrameMasks, type TrackedObject } from './state';

/** Whether an object is not surely found in a frame. What a person has drawn is beyond doubt. */
export function isDoubtful(masks: FrameMasks, at: number): boolean {
  return isDoubt(masks.confidence[at]) && !masks.drawn.has(masks.ids[at]);
}

/** Frames in which an object is doubtful; `correct` is the one to look at. */
export interface Place extends Alarm {
  correct: number;
}

/** In the order of frames. */
export function placesToCheck({ state, range }: Pick<Session, 'state' | 'range'>): Place[] {
  const rows: Row[] = [];
  for (let index = range.first; index <= range.last; index++) rows.push(...doubtsOf(state.frames.get(index), index));
  return findAlarms(rows).map((alarm) => {
    // Where the doubt begins, so that all after it profits.
    const back = state.frames.get(alarm.first)?.ahead?.direction === -1;
    return { ...alarm, correct: back ? alarm.last : alarm.first };
  });
}

/** The place to look at after a frame; after the last one, the first. */
export function placeAfter(places: readonly Place[], index: number): Place | undefined {
  const sorted = [...places].sort((a, b) => a.correct - b.correct);
  return sorted.find(({ correct }) => correct > index) ?? sorted[0];
}

/** What is the matter with the objects of a frame: by the places it is part of, and where it is part of none, by itself. */
export function doubtsAt(masks: FrameMasks | undefined, index: number, places: readonly Place[]): (Doubt | Place)[] {
  return doubtsOf(masks, index).map(
    (row) => places.find(({ id, first, last }) => id === row.id && first <= index && index <= last) ?? doubtOf([row]),
  );
}

/** The doubtful objects of a frame. */
function doubtsOf(masks: FrameMasks | undefined, frame: number): Row[] {
  const rows = (masks?.ids ?? []).map((id, at) => {
    return { frame, id, confidence: masks!.confidence[at], alike: alikeOf(masks!, at) };
  });
  return rows.filter((_, at) => isDoubtful(masks!, at));
}

/** What is the matter, in a few words; the object is named where there are several. */
export function doubtText({ id, lost, alike }: Doubt, objects: readonly TrackedObject[], where = 'here'): string {
  const called = (one: number) => objects.find((object) => object.id === one)?.name ?? `Object ${one}`;
  const several = objects.length > 1;
  if (lost) return several ? `${called(id)} is lost ${where}` : `Lost ${where}`;
  if (alike) return `${several ? `${called(id)} may` : 'May'} be following ${called(alike)} ${where}`;
  if (where !== 'here') return several ? `${called(id)} is doubtful ${where}` : `Doubtful ${where}`;
  return several ? `Check ${called(id)} in this frame` : 'Check this frame';
}

/** The same with the frames it is about, as they are counted on the screen. */
export function placeText(place: Alarm, objects: readonly TrackedObject[]): string {
  const { first, last } = place;
  const frames = last > first ? `frames ${first + 1} to ${last + 1}` : `frame ${first + 1}`;
  return doubtText(place, objects, `in ${frames}`);
}
