/** Where a person should look. */
import type { Session } from './session';
import type { FrameMasks } from './state';

/** Confidence below it is worth a look. */
export const DOUBTFUL = 0.5;

/** Whether an object is not surely found in a frame. What a person has drawn is beyond doubt. */
export function isDoubtful(masks: FrameMasks, at: number): boolean {
  return masks.confidence[at] < DOUBTFUL && !masks.drawn.has(masks.ids[at]);
}

/** Frames in a row in which something is doubtful; `worst` is the one to look at. */
export interface Place {
  first: number;
  last: number;
  worst: number;
}

export function placesToCheck({ state, range }: Pick<Session, 'state' | 'range'>): Place[] {
  const places: (Place & { least: number })[] = [];
  for (let index = range.first; index <= range.last; index++) {
    const masks = state.frames.get(index);
    const doubts = (masks?.confidence ?? []).filter((_, at) => isDoubtful(masks!, at));
    if (!doubts.length) continue;
    const least = Math.min(...doubts);
    const place = places.at(-1);
    if (place?.last !== index - 1) places.push({ first: index, last: index, worst: index, least });
    else {
      place.last = index;
      if (least < place.least) [place.worst, place.least] = [index, least];
    }
  }
  return places;
}
