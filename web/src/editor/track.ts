/** Follows the objects from the current frame on, forward or backward, or live. */
import type { Masked } from '../engine/messages';
import type { Geometry } from '../tracking/geometry';
import type { CameraVideo } from '../video/camera';
import { reduced } from './network';
import type { Session } from './session';
import { planesOf, withFrame, type State } from './state';

export type Direction = 1 | -1;

/** The frame that somebody drew nearest to another one; of equals, the earlier. */
export function nearestDrawn(state: State, index: number): number | null {
  let best: number | null = null;
  for (const [at, masks] of state.frames) {
    if (masks.drawn && (best === null || Math.abs(at - index) < Math.abs(best - index))) best = at;
  }
  return best;
}

/**
 * Steps until the video's end, until a frame that was drawn and has been followed from, or until `signal` stops it.
 * `shown` is awaited after each frame, while the network works on the next one already.
 */
export async function track(
  session: Session,
  direction: Direction,
  signal: AbortSignal,
  shown: () => Promise<void>,
): Promise<void> {
  if (!session.masks) throw new Error('Mark an object in this frame first.');
  let run = await Run.begin(session, direction);
  session.history.commit(session.state); // the whole run is one step for undo
  while (!signal.aborted) {
    const next = session.index + direction;
    if (next < 0 || next >= session.frames) return;
    const drawn = session.state.frames.get(next)?.drawn;
    if (drawn && session.state.frames.has(next + direction)) return;
    if (drawn) {
      session.index = next;
      run = await Run.begin(session, direction);
    } else {
      const started = performance.now();
      const found = await run.step(next);
      run.record(next, found);
      if (session.slow(performance.now() - started)) run = await Run.begin(session, direction);
    }
    await shown();
  }
}

/** Follow what the camera sees, from its last frame on, for at most so many frames. */
export async function trackLive(
  session: Session,
  camera: CameraVideo,
  most: number,
  signal: AbortSignal,
  shown: () => Promise<void>,
): Promise<void> {
  let run = await Run.begin(session, null);
  session.history.commit(session.state);
  while (!signal.aborted && session.frames < most) {
    const started = performance.now();
    const next = await camera.grab();
    run.record(next, await run.step(next));
    if (session.slow(performance.now() - started)) run = await Run.begin(session, null);
    await shown();
  }
}

/** Frames in a row at one working size. */
class Run {
  /** The frame after the one under way, decoded meanwhile. */
  private picture: { index: number; bitmap: Promise<ImageBitmap> } | undefined;
  /** The frame that the network works on while the one before is being shown. */
  private underway: { index: number; found: Promise<Masked> } | undefined;

  private constructor(
    private readonly session: Session,
    private readonly geometry: Geometry,
    private readonly ids: readonly number[],
    private readonly direction: Direction | null,
  ) {}

  /** Remember the nearest frame that was drawn, and the current one. `direction` is null where none can be foreseen. */
  static async begin(session: Session, direction: Direction | null): Promise<Run> {
    const { state, index, network, source, geometry } = session;
    const ids = state.objects.map((object) => object.id);
    const at = nearestDrawn(state, index) ?? index;
    const known = (frame: number) => ({
      index: frame,
      planes: planesOf(state.frames.get(frame)!, ids, geometry.inner),
    });
    await network.begin(source, geometry, known(at), at === index ? null : known(index));
    return new Run(session, geometry, ids, direction);
  }

  /** The objects in a frame; the next one is begun at once. */
  async step(index: number): Promise<Masked> {
    const found = await (this.underway?.index === index ? this.underway.found : this.ask(index));
    const next = this.following(index);
    this.underway = next === null ? undefined : { index: next, found: this.ask(next) };
    this.underway?.found.catch(() => undefined); // whoever asks for it is told
    return found;
  }

  record(index: number, { planes, confidence }: Masked): void {
    const { session, ids, geometry } = this;
    const masks = { ids, planes, confidence, inner: geometry.inner, drawn: false, marks: new Map() };
    session.index = index;
    session.saved = false;
    session.history.replace(withFrame(session.state, index, masks));
  }

  private async ask(index: number): Promise<Masked> {
    const { source, network } = this.session;
    const ready = this.picture?.index === index ? this.picture.bitmap : reduced(source, index, this.geometry);
    const bitmap = await ready;
    const next = this.following(index);
    this.picture = next === null ? undefined : { index: next, bitmap: reduced(source, next, this.geometry) };
    this.picture?.bitmap.catch(() => undefined);
    return network.step(bitmap);
  }

  /** The frame after `index` that is to be followed, null where there is none. */
  private following(index: number): number | null {
    if (this.direction === null) return null;
    const next = index + this.direction;
    const inside = next >= 0 && next < this.session.frames;
    return inside && !this.session.state.frames.get(next)?.drawn ? next : null;
  }
}
