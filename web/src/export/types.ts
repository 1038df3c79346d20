import type { AudioSample } from 'mediabunny';
import type { Sink } from './sink';

/** What is to be heard. */
export interface Sound {
  channels: number;
  /** Samples a second. */
  rate: number;
  /** From the first frame to the end of the last one, beginning at 0; each is for whoever takes it to close. */
  samples(): AsyncGenerator<AudioSample>;
}

/** A video whose objects have been followed, as the exports read it. */
export interface TrackedVideo {
  width: number;
  height: number;
  /** The number that its first frame has in the whole video: a part keeps the names of its frames. */
  first: number;
  /** Seconds, one per frame, rising. */
  timestamps: number[];
  /** Seconds, one per frame. */
  durations: number[];
  /** The picture of frame i; it stays the video's, and is read before the next is asked for. */
  frame(i: number): Promise<CanvasImageSource>;
  /** width * height ids, row by row: 0 background, 1..N objects. */
  labels(i: number): Promise<Uint8Array>;
  /** width * height, row by row: the soft matte of all objects together, 0..255. */
  alpha(i: number): Promise<Uint8Array>;
  /** Null where there is none. */
  sound: Sound | null;
  /** What the objects are called: names[0] is object 1. */
  names: string[];
}

/** What is behind the objects. */
export type Background =
  | { kind: 'transparent' }
  /** Objects white, the rest black: a matte for editors that read no transparency. */
  | { kind: 'matte' }
  /** As it was. */
  | { kind: 'scene' }
  | { kind: 'grey' }
  | { kind: 'color'; color: string }
  /** A Gaussian of this standard deviation, in pixels of the video. */
  | { kind: 'blur'; radius: number }
  /** Squares with sides of so many pixels of the video. */
  | { kind: 'pixels'; size: number }
  | { kind: 'image'; image: ImageBitmap | OffscreenCanvas };

/** What becomes of the objects themselves. */
export type Disguise = { kind: 'plain' } | { kind: 'blur'; radius: number } | { kind: 'pixels'; size: number };

/** What is made of a frame and the matte of its objects. */
export interface Look {
  background: Background;
  object: Disguise;
  /** A line around the objects, `width` pixels of the video wide. */
  outline: { color: string; width: number } | null;
}

/** The objects over a background, and nothing else done to them. */
export function plainLook(background: Background): Look {
  return { background, object: { kind: 'plain' }, outline: null };
}

/** The same look of a picture of another size. */
export function scaledLook({ background, object, outline }: Look, scale: number): Look {
  return {
    background: scaled(background, scale),
    object: scaled(object, scale),
    outline: outline && { ...outline, width: outline.width * scale },
  };
}

function scaled<T extends Background | Disguise>(effect: T, scale: number): T {
  if (effect.kind === 'blur') return { ...effect, radius: effect.radius * scale };
  if (effect.kind === 'pixels') return { ...effect, size: Math.max(1, effect.size * scale) };
  return effect;
}

/** Told after each frame: how many are done, of how many. */
export type Progress = (done: number, total: number) => void;

/** One file being written: of what, where to, who is told, and what ends it. */
export interface Writing {
  video: TrackedVideo;
  sink: Sink;
  progress: Progress;
  signal: AbortSignal;
}
