/** A session as it is kept: in the browser's storage, or in a project file. */
import type { Edges } from '../export/edges';
import type { Range } from '../export/tracked';
import type { Background, Look } from '../export/types';
import type { Session } from './session';
import type { FrameMasks, State, TrackedObject } from './state';

/** All but the masks and the video. */
export interface Settings {
  /** Of the video. */
  name: string;
  frames: number;
  index: number;
  active: number;
  objects: readonly TrackedObject[];
  range: Range | null;
  edges: Edges;
  look: Omit<Look, 'background'> & { background: Exclude<Background, { kind: 'image' }> | { kind: 'image' } };
}

export interface Kept {
  settings: Settings;
  masks: ReadonlyMap<number, FrameMasks>;
  /** The background, where it is a picture. */
  image: Blob | null;
}

export function settingsOf(session: Session): Settings {
  const { source, frames, index, active, state, edges, look } = session;
  const background = look.background.kind === 'image' ? ({ kind: 'image' } as const) : look.background;
  const range = session.isPart ? session.range : null;
  const { name } = source;
  return { name, frames, index, active, objects: state.objects, range, edges, look: { ...look, background } };
}

/** The picture behind the objects as a file; null where there is none. */
export async function imageOf({ look: { background } }: Session): Promise<Blob | null> {
  if (background.kind !== 'image') return null;
  const { image } = background;
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext('2d')!.drawImage(image, 0, 0);
  return canvas.convertToBlob({ type: 'image/png' });
}

/** A session as it was; undo begins anew. */
export async function restore(session: Session, { settings, masks, image }: Kept): Promise<State> {
  const { background } = settings.look;
  const behind: Background =
    background.kind !== 'image'
      ? background
      : image
        ? { kind: 'image', image: await createImageBitmap(image) }
        : { kind: 'transparent' };
  const inside = [...masks].filter(([index]) => index < session.frames);
  const state: State = { objects: settings.objects, frames: new Map(inside) };
  session.history.replace(state);
  session.index = Math.min(settings.index, session.frames - 1);
  session.active = settings.active;
  session.setRange(settings.range);
  session.setEdges(settings.edges);
  session.setLook({ ...settings.look, background: behind });
  return state;
}
