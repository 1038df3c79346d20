/** Chooses the working size that holds the frame rate. */
import { SIZES, USUAL_SIZE } from './network';

export type Quality = 'auto' | (typeof SIZES)[number];

/** Milliseconds a frame may take before a smaller size is tried. */
const BUDGET = 160;
const ENOUGH = 6;

export class Pace {
  private times: number[] = [];

  constructor(public size: number = USUAL_SIZE) {}

  /** After each frame; the new size where the pace was too slow, else null. */
  add(milliseconds: number): number | null {
    this.times.push(milliseconds);
    if (this.times.length < ENOUGH) return null;
    const usual = [...this.times].sort((a, b) => a - b)[ENOUGH >> 1]; // one slow frame proves nothing
    this.times = this.times.slice(1 - ENOUGH);
    const smaller = SIZES.find((size) => size < this.size);
    if (usual <= BUDGET || smaller === undefined) return null;
    this.times = [];
    this.size = smaller;
    return smaller;
  }
}
