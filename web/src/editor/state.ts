/** What a person has made: objects and their masks. Values only; every change makes a new state. */
import type { Raster } from '../tracking/geometry';
import { type Marks } from '../tracking/marks';
import { isSameRaster, pack, resample, unpack, type Packed } from '../tracking/planes';
import type { LookAhead } from '../tracking/window';

export type Direction = 1 | -1;

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
  /** For each object the one (by its id) that it may have been taken for, 0 for none; sessions of before have none. */
  alike?: readonly number[];
  /** Of the planes: the window through which the objects were seen, or the whole frame where something was drawn. */
  raster: Raster;
  /** Where to look for these objects in the next frame this way; null where something was drawn since. */
  ahead: { look: LookAhead; direction: Direction } | null;
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

/** The mask of an object in a frame, unpacked as a raster has it; null where it is not known. */
export function planeOf(masks: FrameMasks | undefined, id: number, raster: Raster): Uint8Array | null {
  const at = masks ? masks.ids.indexOf(id) : -1;
  if (!masks || at < 0) return null;
  return resample(unpack(masks.planes[at], masks.raster.height * masks.raster.width), masks.raster, raster);
}

/** Whether anything of an object is seen in a frame. */
export function isVisible(masks: FrameMasks | undefined, id: number): boolean {
  return Boolean(masks && planeOf(masks, id, masks.raster)?.some((value) => value > 127));
}

/** Packed planes of the given objects as a raster has them; empty where an object is not known. */
export function planesOf(masks: FrameMasks, ids: readonly number[], raster: Raster): Packed[] {
  const same = isSameRaster(masks.raster, raster);
  return ids.map((id) => {
    const at = masks.ids.indexOf(id);
    if (at >= 0 && same) return masks.planes[at].slice();
    return pack(planeOf(masks, id, raster) ?? new Uint8Array(raster.height * raster.width));
  });
}

/** A frame in which one object's mask is as drawn, a plane of `raster`; where it covers others, it wins. */
export function drawObject(
  before: FrameMasks | undefined,
  id: number,
  plane: Uint8Array,
  raster: Raster,
  marks: Marks | null,
): FrameMasks {
  const ids = before?.ids.includes(id) ? before.ids : [...(before?.ids ?? []), id];
  const planes = ids.map((other) => {
    if (other === id) return pack(plane);
    const old = planeOf(before, other, raster) ?? new Uint8Array(plane.length);
    return pack(old.map((value, i) => Math.min(value, 255 - plane[i])));
  });
  const confidence = ids.map((other, i) => (other === id ? 1 : before!.confidence[i]));
  const alike = ids.map((other, i) => (other === id ? 0 : alikeOf(before!, i)));
  const all = new Map(before?.marks);
  if (marks) all.set(id, marks);
  else all.delete(id);
  return { ids, planes, confidence, alike, raster, ahead: null, drawn: new Set(before?.drawn).add(id), marks: all };
}

/**
 * A frame with what was found there; what a person drew, and objects that were not looked for, stay as they are. No
 * window shows both: then all of them are planes of `canvas`, which covers the whole frame.
 */
export function withFound(before: FrameMasks | undefined, found: FrameMasks, canvas: Raster): FrameMasks {
  if (!before) return found;
  const looked = found.ids.filter((id) => !before.drawn.has(id));
  const kept = before.ids.filter((id) => !looked.includes(id));
  if (!kept.length) return { ...found, drawn: before.drawn, marks: before.marks };
  const trusted = (masks: FrameMasks, ids: readonly number[]) =>
    ids.map((id) => masks.confidence[masks.ids.indexOf(id)]);
  const taken = (masks: FrameMasks, ids: readonly number[]) => ids.map((id) => alikeOf(masks, masks.ids.indexOf(id)));
  return {
    ids: [...kept, ...looked],
    planes: [...planesOf(before, kept, canvas), ...planesOf(found, looked, canvas)],
    confidence: [...trusted(before, kept), ...trusted(found, looked)],
    alike: [...taken(before, kept), ...taken(found, looked)],
    raster: canvas,
    ahead: null,
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
      alike: others(masks.ids.map((_, i) => alikeOf(masks, i))).map((other) => (other === id ? 0 : other)),
      ahead: null,
      drawn: new Set([...masks.drawn].filter((other) => other !== id)),
      marks: new Map([...masks.marks].filter(([other]) => other !== id)),
    });
  }
  return { objects: state.objects.filter((object) => object.id !== id), frames };
}

/** What an object of a frame, by its place among them, may have been taken for; 0 for nothing. */
export function alikeOf({ alike }: FrameMasks, at: number): number {
  return alike?.[at] ?? 0;
}

/** How far a frame is to be trusted: as far as its least certain object. Null where nothing is known. */
export function trust(masks: FrameMasks | undefined): number | null {
  return masks?.confidence.length ? Math.min(...masks.confidence) : null;
}
