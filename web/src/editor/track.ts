/** Follows the objects from the current frame on, forward or backward. */
import type { Masked } from '../engine/messages';
import { copied, type Known } from './network';
import type { Session } from './session';
import {
  isVisible,
  planesOf,
  withFound,
  withFrame,
  type Direction,
  type FrameMasks,
  type State,
  type TrackedObject,
} from './state';

/**
 * The frame to remember objects by: of those in which somebody drew, the one that shows most of the objects; of equals,
 * the nearest to `index`; of equals, the earlier. Null where none shows as many as the frame `index` itself.
 */
export function anchorOf(state: State, index: number, ids: readonly number[]): number | null {
  const shows = (at: number) => ids.filter((id) => isVisible(state.frames.get(at), id)).length;
  const drawn = [...state.frames].filter(([, masks]) => masks.drawn.size).map(([at]) => at);
  const ranked = drawn
    .map((at) => ({ at, shown: shows(at), far: Math.abs(at - index) }))
    .sort((a, b) => b.shown - a.shown || a.far - b.far || a.at - b.at);
  return ranked.length && ranked[0].shown >= shows(index) ? ranked[0].at : null;
}

/**
 * Where following begins that is asked for at `index`: there, or where something is known nearest to it, and then towards
 * it. Null where nothing is known anywhere.
 */
export function startOf(
  state: State,
  index: number,
  direction: Direction,
): { index: number; direction: Direction } | null {
  if (state.frames.get(index)?.ids.length) return { index, direction };
  const known = [...state.frames].filter(([, masks]) => masks.ids.length).map(([at]) => at);
  const behind = known.filter((at) => (index - at) * direction > 0);
  const nearest = (behind.length ? behind : known).sort((a, b) => Math.abs(a - index) - Math.abs(b - index))[0];
  return nearest === undefined ? null : { index: nearest, direction: nearest < index ? 1 : -1 };
}

/** An object of which nothing is found in so many frames in a row is lost. */
export const LOST_FRAMES = 10;
/** Less confidence than this is as good as nothing. */
export const LOST = 0.1;

/** The object that has just been lost for so many frames, up to `index`; longer ago it was told already. */
export function lostAt(state: State, index: number, direction: Direction): TrackedObject | undefined {
  const lost = (masks: FrameMasks | undefined, id: number) => {
    const at = masks?.ids.indexOf(id) ?? -1;
    return at >= 0 && !masks!.drawn.has(id) && masks!.confidence[at] < LOST;
  };
  const last = Array.from({ length: LOST_FRAMES + 1 }, (_, n) => state.frames.get(index - n * direction));
  const before = last.pop();
  return state.objects.find(({ id }) => last.every((masks) => lost(masks, id)) && !lost(before, id));
}

/** The object is lost: there is nothing to follow. */
export class Lost extends Error {}

/**
 * Steps until the out point or the video's end, until a frame that was drawn and has been followed from, or until `signal` stops it.
 * The objects of the first frame are followed, and from frames in which others were drawn, those as well.
 * `shown` is awaited after each frame, while the network works on the next one already.
 */
export async function track(
  session: Session,
  direction: Direction,
  signal: AbortSignal,
  shown: () => Promise<void>,
): Promise<void> {
  if (!session.masks) throw new Error('Mark an object in this frame first.');
  let run = await Run.begin(session, direction, session.masks.ids);
  session.history.commit(session.state); // the whole run is one step for undo
  while (!signal.aborted) {
    const next = session.index + direction;
    if (session.endsBefore(next, direction)) return;
    const drawn = session.state.frames.get(next)?.drawn ?? new Set<number>();
    const settled = run.ids.every((id) => drawn.has(id));
    if (settled && session.state.frames.has(next + direction)) return;
    const started = performance.now();
    if (settled) session.index = next;
    else run.record(next, await run.step(next));
    const slow = !settled && session.slow(performance.now() - started);
    const lost = settled ? undefined : lostAt(session.state, next, direction);
    if (lost) {
      session.active = lost.id; // which is to be marked again
      const since = next - (LOST_FRAMES - 1) * direction + 1;
      const what = session.state.objects.length > 1 ? `${lost.name} is lost` : 'Lost';
      throw new Lost(`${what} since frame ${since}. Mark it again there, or press Follow to go on without it.`);
    }
    if (drawn.size || slow) run = await Run.begin(session, direction, [...new Set([...run.ids, ...drawn])]);
    await shown();
  }
}

/** The objects of a frame as the network is told of them; where they were followed to this way, it goes on as it was. */
export function knownAt(state: State, index: number, ids: readonly number[], direction: Direction): Known {
  const masks = state.frames.get(index)!;
  const { raster, ahead } = masks;
  const goesOn = ahead?.direction === direction && ids.join() === masks.ids.join();
  return { index, planes: planesOf(masks, ids, raster), raster, look: goesOn ? ahead.look : null };
}

/** Frames in a row at one working size. */
class Run {
  /** The frame after the one under way, decoded meanwhile. */
  private picture: { index: number; bitmap: Promise<ImageBitmap> } | undefined;
  /** The frame that the network works on while the one before is being shown. */
  private underway: { index: number; found: Promise<Masked> } | undefined;

  private constructor(
    private readonly session: Session,
    readonly ids: readonly number[],
    private readonly direction: Direction,
  ) {}

  /** Remember the objects by a frame that was drawn, and by the current one. */
  static async begin(session: Session, direction: Direction, ids: readonly number[]): Promise<Run> {
    const { state, index, network, source, geometry } = session;
    const at = anchorOf(state, index, ids) ?? index;
    const known = (frame: number) => knownAt(state, frame, ids, direction);
    await network.begin(source, geometry, known(at), at === index ? null : known(index));
    return new Run(session, ids, direction);
  }

  /** The objects in a frame; the next one is begun at once. */
  async step(index: number): Promise<Masked> {
    const found = await (this.underway?.index === index ? this.underway.found : this.ask(index));
    const next = this.following(index);
    this.underway = next === null ? undefined : { index: next, found: this.ask(next) };
    this.underway?.found.catch(() => undefined); // whoever asks for it is told
    return found;
  }

  record(index: number, { look, alike, ...masked }: Masked): void {
    const { session, ids, direction } = this;
    const { state, canvas } = session;
    const ahead = { look, direction };
    const taken = alike.map((other) => (other === null ? 0 : ids[other]));
    const found: FrameMasks = { ids, ...masked, alike: taken, ahead, drawn: new Set(), marks: new Map() };
    session.index = index;
    session.history.replace(withFrame(state, index, withFound(state.frames.get(index), found, canvas)));
  }

  private async ask(index: number): Promise<Masked> {
    const { source, network } = this.session;
    const ready = this.picture?.index === index ? this.picture.bitmap : copied(source, index);
    const bitmap = await ready;
    const next = this.following(index);
    this.picture = next === null ? undefined : { index: next, bitmap: copied(source, next) };
    this.picture?.bitmap.catch(() => undefined);
    return network.step(bitmap);
  }

  /** The frame after `index` that this run goes on to, null where there is none: where something is drawn, it ends. */
  private following(index: number): number | null {
    const next = index + this.direction;
    const inside = !this.session.endsBefore(next, this.direction);
    const drawn = [index, next].some((at) => this.session.state.frames.get(at)?.drawn.size);
    return inside && !drawn ? next : null;
  }
}
