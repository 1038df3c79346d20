/** What a person has made: objects and their masks. Values only; every change makes a new state. */
import type { Size } from '../tracking/geometry';
import { type Marks } from '../tracking/marks';
import { pack, resizePlane, unpack, type Packed } from '../tracking/planes';

export interface TrackedObject {
  /** 1, 2, ...: its number in exported masks. */
  id: number;
  name: string;
  color: string;
}

/** The objects in one frame. */
export interface FrameMasks {
  /** The objects that are known here, in the order of the planes. */
  ids: readonly number[];
  planes: readonly Packed[];
  /** 0..1 for each object. */
  confidence: readonly number[];
  /** Of the planes. */
  inner: Size;
  /** The objects that a person has marked or corrected here: tracking starts from them and never changes them. */
  drawn: ReadonlySet<number>;
  marks: ReadonlyMap<number, Marks>;
}

export interface State {
  objects: readonly TrackedObject[];
  frames: ReadonlyMap<number, FrameMasks>;
}

export const EMPTY: State = { objects: [], frames: new Map() };

export function withFrame(state: State, index: number, masks: FrameMasks): State {
  return { ...state, frames: new Map(state.frames).set(index, masks) };
}

/** The mask of an object in a frame, unpacked at a size; null where it is not known. */
export function planeOf(masks: FrameMasks | undefined, id: number, inner: Size): Uint8Array | null {
  const at = masks ? masks.ids.indexOf(id) : -1;
  if (!masks || at < 0) return null;
  return resizePlane(unpack(masks.planes[at], masks.inner.height * masks.inner.width), masks.inner, inner);
}

/** Whether anything of an object is seen in a frame. */
export function isVisible(masks: FrameMasks | undefined, id: number): boolean {
  return Boolean(masks && planeOf(masks, id, masks.inner)?.some((value) => value > 127));
}

/** Packed planes of the given objects at a size; empty where an object is not known. */
export function planesOf(masks: FrameMasks, ids: readonly number[], inner: Size): Packed[] {
  const same = masks.inner.height === inner.height && masks.inner.width === inner.width;
  return ids.map((id) => {
    const at = masks.ids.indexOf(id);
    if (at >= 0 && same) return masks.planes[at].slice();
    return pack(planeOf(masks, id, inner) ?? new Uint8Array(inner.height * inner.width));
  });
}

/** A frame in which one object's mask is as drawn; where it covers others, it wins. */
export function drawObject(
  before: FrameMasks | undefined,
  id: number,
  plane: Uint8Array,
  inner: Size,
  marks: Marks | null,
): FrameMasks {
  const ids = before?.ids.includes(id) ? before.ids : [...(before?.ids ?? []), id];
  const planes = ids.map((other) => {
    if (other === id) return pack(plane);
    const old = planeOf(before, other, inner) ?? new Uint8Array(plane.length);
    return pack(old.map((value, i) => Math.min(value, 255 - plane[i])));
  });
  const confidence = ids.map((other, i) => (other === id ? 1 : before!.confidence[i]));
  const all = new Map(before?.marks);
  if (marks) all.set(id, marks);
  else all.delete(id);
  return { ids, planes, confidence, inner, drawn: new Set(before?.drawn).add(id), marks: all };
}

/** A frame with what was found there; what a person drew, and objects that were not looked for, stay as they are. */
export function withFound(before: FrameMasks | undefined, found: FrameMasks): FrameMasks {
  if (!before) return found;
  const looked = new Set(found.ids.filter((id) => !before.drawn.has(id)));
  const kept = before.ids.filter((id) => !looked.has(id));
  const at = found.ids.map((_, i) => i).filter((i) => looked.has(found.ids[i]));
  return {
    ...found,
    ids: [...kept, ...at.map((i) => found.ids[i])],
    planes: [...planesOf(before, kept, found.inner), ...at.map((i) => found.planes[i])],
    confidence: [...kept.map((id) => before.confidence[before.ids.indexOf(id)]), ...at.map((i) => found.confidence[i])],
    drawn: before.drawn,
    marks: before.marks,
  };
}

export function removeObject(state: State, id: number): State {
  const frames = new Map<number, FrameMasks>();
  for (const [index, masks] of state.frames) {
    const others = <T>(values: readonly T[]) => values.filter((_, i) => masks.ids[i] !== id);
    const ids = others(masks.ids);
    if (!ids.length) continue;
    frames.set(index, {
      ...masks,
      ids,
      planes: others(masks.planes),
      confidence: others(masks.confidence),
      drawn: new Set([...masks.drawn].filter((other) => other !== id)),
      marks: new Map([...masks.marks].filter(([other]) => other !== id)),
    });
  }
  return { objects: state.objects.filter((object) => object.id !== id), frames };
}

/** How far a frame is to be trusted: as far as its least certain object. Null where nothing is known. */
export function trust(masks: FrameMasks | undefined): number | null {
  return masks?.confidence.length ? Math.min(...masks.confidence) : null;
}
