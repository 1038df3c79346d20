/** The session as the exports read it. */
import type { FormatName } from '../export/formats';
import type { Job, Part, Place } from '../export/messages';
import type { Range } from '../export/tracked';
import { copied } from './network';
import type { Session } from './session';

/** Between the in and the out point, from the first frame with a mask to the last one, and how many have none. */
export function followed(session: Session): Range & { missing: number } {
  const { first: begin, last: end } = session.range;
  const known = [...session.state.frames.keys()].filter((at) => at >= begin && at <= end).sort((a, b) => a - b);
  const [first, last] = [known[0] ?? begin, known.at(-1) ?? begin];
  return { first, last, missing: known.length ? last - first + 1 - known.length : 1 };
}

/** Frames between the in and the out point of which nothing is known. */
export function leftToFollow(session: Session): number {
  const { first, last } = session.range;
  const known = [...session.state.frames.keys()].filter((at) => at >= first && at <= last);
  return last - first + 1 - known.length;
}

/** What is to be written, for the worker that writes it. */
export function jobOf(session: Session, format: FormatName, range: Range, place: Place): Job {
  const { source, state, look, edges } = session;
  const { file, name, width, height, timestamps, durations, pageOnly } = source;
  const most = state.objects.reduce((id, object) => Math.max(id, object.id), 0);
  const names = Array.from(
    { length: most },
    (_, i) => state.objects.find((object) => object.id === i + 1)?.name ?? `Object ${i + 1}`,
  );
  const video = { file, name, width, height, timestamps, durations, pageOnly };
  return { format, video, range, look, edges, names, place };
}

/** One frame of it; `state` is that of the beginning, whatever is edited meanwhile. */
export async function partOf(session: Session, state: Session['state'], index: number, seen: boolean): Promise<Part> {
  const masks = state.frames.get(index);
  const { ids, planes, raster, drawn } = masks ?? {};
  return {
    index,
    masks: masks && { ids: ids!, planes: planes!, raster: raster!, drawn: drawn! },
    picture: seen ? await copied(session.source, index) : null,
  };
}
