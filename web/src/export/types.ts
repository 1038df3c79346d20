import type { AudioSample } from 'mediabunny';

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
  | { kind: 'color'; color: string }
  | { kind: 'blur'; radius: number }
  | { kind: 'image'; image: CanvasImageSource };

/** Told after each frame: how many are done, of how many. */
export type Progress = (done: number, total: number) => void;
