/** What the page and the worker say to each other. */
import type { Geometry, Size } from '../tracking/geometry';
import type { Marks } from '../tracking/marks';
import type { Packed } from '../tracking/planes';

/** Packed masks of the objects in a frame, in the order of the objects. */
export interface Masked {
  planes: Packed[];
  /** 0..1 for each object. */
  confidence: number[];
}

/** A frame, at the inner size of the network, with its masks. */
export interface Picture {
  bitmap: ImageBitmap;
  planes: Packed[];
}

/** Each request, and what it is answered with. */
export interface Calls {
  load: { request: { model: string; accelerator: 'auto' | 'wasm' }; reply: { engine: string; mostObjects: number } };
  /** Compile for marks at this size and run once, so that the first mark need not wait for it. */
  warm: { request: { geometry: Geometry }; reply: Record<string, never> };
  /** One object's mask from its marks; `before` is its mask so far. */
  propose: { request: { geometry: Geometry; bitmap: ImageBitmap; marks: Marks; before: Packed | null }; reply: Masked };
  begin: { request: { geometry: Geometry; anchor: Picture; previous: Picture | null }; reply: Record<string, never> };
  step: { request: { bitmap: ImageBitmap }; reply: Masked };
  /** Masks at the video's size: the object of each pixel (as `ids` calls it) and how much of it is object. */
  expand: {
    request: { planes: Packed[]; ids: number[]; inner: Size; frame: Size; what: 'labels' | 'alpha' };
    reply: { pixels: Uint8Array<ArrayBuffer> };
  };
}

export type CallName = keyof Calls;
export type Request = { [K in CallName]: { call: K; number: number } & Calls[K]['request'] }[CallName];
export type Reply = { number: number; error?: string; result?: Calls[CallName]['reply'] };
