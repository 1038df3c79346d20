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
  /** Whether a person has marked or corrected it: tracking starts from such frames and never changes them. */
  drawn: boolean;
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
  const all = new Map(before?.marks);
  if (marks) all.set(id, marks);
  else all.delete(id);
  return { ids, planes, confidence: ids.map(() => 1), inner, drawn: true, marks: all };
}

export function removeObject(state: State, id: number): State {
  const frames = new Map<number, FrameMasks>();
  for (const [index, masks] of state.frames) {
    const keep = masks.ids.map((other) => other !== id);
    const rest = { ...masks, ids: masks.ids.filter((_, i) => keep[i]), planes: masks.planes.filter((_, i) => keep[i]) };
    if (rest.ids.length) frames.set(index, { ...rest, confidence: masks.confidence.filter((_, i) => keep[i]) });
  }
  return { objects: state.objects.filter((object) => object.id !== id), frames };
}

/** How far a frame is to be trusted: as far as its least certain object. Null where nothing is known. */
export function trust(masks: FrameMasks | undefined): number | null {
  return masks?.confidence.length ? Math.min(...masks.confidence) : null;
}
