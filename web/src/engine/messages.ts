/** What the page and the worker say to each other. */
import type { Geometry, Raster } from '../tracking/geometry';
import type { Marks } from '../tracking/marks';
import type { Packed } from '../tracking/planes';
import type { LookAhead } from '../tracking/window';

/** Packed masks of the objects in a frame, in the order of the objects. */
export interface Masked {
  planes: Packed[];
  /** Of the planes: the part of the frame that the network has looked at. */
  raster: Raster;
  /** 0..1 for each object. */
  confidence: number[];
  /** Which of the objects (0, 1, ...) each may have been taken for; null for none. */
  alike: (number | null)[];
  /** Where the next frame is looked at. */
  look: LookAhead;
}

/** A frame of the video, in its own size, with its masks. */
export interface Picture {
  bitmap: ImageBitmap;
  planes: Packed[];
  raster: Raster;
  /** To go on as if nothing had happened since the frame was followed; null where something was drawn. */
  look: LookAhead | null;
}

/** Each request, and what it is answered with. */
export interface Calls {
  load: {
    request: { model: string; accelerator: 'auto' | 'wasm' };
    /** `files` is what the engine was loaded from, beside the model. */
    reply: { engine: string; mostObjects: number; files: string[] };
  };
  /** Compile for marks at this size and run once, so that the first mark need not wait for it. */
  warm: { request: { geometry: Geometry }; reply: Record<string, never> };
  /** One object's mask from its marks; `before` is its mask so far, a plane of the geometry's inner size. */
  propose: { request: { geometry: Geometry; bitmap: ImageBitmap; marks: Marks; before: Packed | null }; reply: Masked };
  /** A mask, as it must be where `marks` has points; planes of `raster`, which shows the whole frame. */
  obey: {
    request: { bitmap: ImageBitmap; plane: Packed; others: Packed[]; raster: Raster; marks: Marks };
    reply: { plane: Packed };
  };
  begin: { request: { geometry: Geometry; anchor: Picture; previous: Picture | null }; reply: Record<string, never> };
  step: { request: { bitmap: ImageBitmap }; reply: Masked };
}

export type CallName = keyof Calls;
export type Request = { [K in CallName]: { call: K; number: number } & Calls[K]['request'] }[CallName];
export type Reply = { number: number; error?: string; result?: Calls[CallName]['reply'] };
