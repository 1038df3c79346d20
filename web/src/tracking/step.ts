/** What runs the network's step (see `mobilevos/export/tflite_step.py`), with a memory of three frames. */
import type { Size } from './geometry';

export interface StepShape extends Size {
  objects: number;
}

/** Frames that are remembered: the annotated one in slot 0, the two latest take turns in the others. */
export const SLOTS = 3;

/** Remembered frames, in whatever order the graph has their numbers. */
export interface Memory {
  /** (64, SLOTS, h*w), with h = H/16, w = W/16 */
  keys: Float32Array;
  /** (N, SLOTS, h*w, 64) */
  values: Float32Array;
  /** When the frame of each slot was; null for one that is empty. */
  times: readonly (number | null)[];
}

export interface StepInputs {
  /** (H, W, 3), RGB 0..255 */
  frame: Float32Array;
  memory: Memory;
  /** The slots this frame is written to. */
  write: readonly number[];
  /** Of this frame; the memory's count on the same clock. */
  time: number;
  /** (N, 2, H/4, W/4): masks to remember instead of the predicted ones: the object, and what it is not. */
  given: Float32Array | null;
}

export interface StepOutputs {
  /** (1 + N, H, W), background first */
  probabilities: Float32Array;
  memory: Memory;
  /** (N,): how well each mask fits by the network's own judgement, 0..1 */
  rating: Float32Array;
}

export interface StepEngine {
  /** For people: what computes. */
  readonly name: string;
  /** For how many objects there is a graph, rising; left-over places stay empty. */
  readonly objects: readonly number[];
  /** Use frames of this size, in multiples of 16, from now on. */
  load(shape: StepShape): Promise<void>;
  step(inputs: StepInputs): Promise<StepOutputs>;
}

const CHANNELS = 64;

/** In every channel of a key: so far from any real one that its weight is exactly zero. */
const FAR_AWAY = 100;

export function emptyMemory(shape: StepShape): Memory {
  const cells = (shape.height / 16) * (shape.width / 16);
  return {
    keys: new Float32Array(CHANNELS * SLOTS * cells).fill(FAR_AWAY),
    values: new Float32Array(shape.objects * SLOTS * cells * CHANNELS),
    times: new Array<null>(SLOTS).fill(null),
  };
}

/** The slot that a frame is written to while objects are followed: an empty one, or that of the older frame. */
export function oldestSlot({ times }: Memory): number {
  const empty = times.indexOf(null);
  if (empty > 0) return empty;
  return times.reduce<number>((best, time, slot) => (slot && time! < times[best]! ? slot : best), 1);
}

/** How much the place of what each slot shows counts at a time: 0 for the annotated frame, 1 for the latest. */
export function nearness({ times }: Memory, now: number): Float32Array {
  return Float32Array.from(times, (time, slot) => (slot === 0 || time === null ? 0 : 1 / Math.max(1, now - time) ** 2));
}

/** The times of the slots after a frame has been written. */
export function written(times: Memory['times'], write: readonly number[], time: number): Memory['times'] {
  return times.map((known, slot) => (write.includes(slot) ? time : known));
}
