/** What runs the network's step (see `mobilevos/export/tflite_step.py`), with a memory of two frames. */
import type { Size } from './geometry';

export interface StepShape extends Size {
  objects: number;
}

/** Two remembered frames, in whatever order the graph has them: slot 0 the annotated one, slot 1 the latest. */
export interface Memory {
  /** 2 * h*w * 64 numbers, with h = H/16, w = W/16 */
  keys: Float32Array;
  /** N * 2 * h*w * 64 numbers */
  values: Float32Array;
}

export interface StepInputs {
  /** (H, W, 3), RGB 0..255 */
  frame: Float32Array;
  memory: Memory;
  /** 1 for the slots this frame is written to, 0 for those that stay. */
  write: readonly [number, number];
  /** (N, 2, H/4, W/4): masks to remember instead of the predicted ones: the object, and what it is not. */
  given: Float32Array | null;
}

export interface StepOutputs {
  /** (1 + N, H, W), background first */
  probabilities: Float32Array;
  memory: Memory;
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

export function emptyMemory(shape: StepShape): Memory {
  const cells = (shape.height / 16) * (shape.width / 16);
  return {
    keys: new Float32Array(2 * cells * CHANNELS),
    values: new Float32Array(shape.objects * 2 * cells * CHANNELS),
  };
}
