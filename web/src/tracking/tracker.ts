/** Follows objects from frame to frame; lives in the worker beside the engine. */
import { annotatedArea, confidences } from './confidence';
import { padFrame, reducePlane, type Geometry } from './geometry';
import { drawMarks, PROMPT_STRENGTH, type Marks } from './marks';
import { winners } from './planes';
import { emptyMemory, type Memory, type StepEngine, type StepShape } from './step';

/** A frame with the masks of the objects on it, as planes of the inner size. */
export interface Drawn {
  pixels: Uint8ClampedArray;
  planes: Uint8Array[];
}

export interface Found {
  /** One plane per object, 0..255, of the inner size. */
  planes: Uint8Array[];
  confidence: number[];
}

export class Tracker {
  geometry!: Geometry;
  private shape!: StepShape;
  private memory!: Memory;
  private areas: number[] = [];
  private rgb = new Float32Array(0);

  constructor(private readonly engine: StepEngine) {}

  mostObjects(): number {
    return Math.max(...this.engine.objects);
  }

  /** The first run of a graph compiles it and takes long: have it behind us. */
  async warm(geometry: Geometry): Promise<void> {
    await this.use(geometry, 1);
    await this.engine.step({ frame: this.rgb, memory: emptyMemory(this.shape), write: [1, 1], given: null });
  }

  /**
   * The mask of one object from rough marks; `before` is its mask so far, if it has one. Ends a track: `begin` anew.
   */
  async propose(
    geometry: Geometry,
    pixels: Uint8ClampedArray,
    marks: Marks,
    before: Uint8Array | null,
  ): Promise<Found> {
    await this.use(geometry, 1);
    const drawn = drawMarks(marks, this.geometry);
    const on = before ? drawn.on.map((value, i) => (drawn.off[i] ? 0 : Math.max(value, before[i]))) : drawn.on;
    const given = this.given([on], [drawn.off], PROMPT_STRENGTH);
    const memory = await this.memorise(pixels, given);
    const { probabilities } = await this.engine.step({ frame: this.rgb, memory, write: [0, 1], given: null });
    return this.found(probabilities, [annotatedArea(given, 0, this.cells())]);
  }

  /** Follow the objects of an annotated frame; `previous` is the frame to go on from, if it is another one. */
  async begin(geometry: Geometry, anchor: Drawn, previous: Drawn | null): Promise<void> {
    await this.use(geometry, anchor.planes.length);
    const given = this.given(hardened(anchor.planes));
    this.areas = anchor.planes.map((_, n) => annotatedArea(given, 2 * n * this.cells(), this.cells()));
    const memory = await this.memorise(anchor.pixels, given);
    this.memory = previous ? await this.memorise(previous.pixels, this.given(previous.planes), memory) : memory;
  }

  async step(pixels: Uint8ClampedArray): Promise<Found> {
    padFrame(pixels, this.geometry, this.rgb);
    const out = await this.engine.step({ frame: this.rgb, memory: this.memory, write: [0, 1], given: null });
    this.memory = out.memory;
    return this.found(out.probabilities, this.areas);
  }

  /** Make room for so many objects; what is left over stays empty. */
  private async use(geometry: Geometry, objects: number): Promise<void> {
    const room = this.engine.objects.find((most) => most >= objects);
    if (!room) throw new Error(`At most ${this.mostObjects()} objects can be followed at once.`);
    const { height, width } = geometry.net;
    this.geometry = geometry;
    this.shape = { height, width, objects: room };
    this.rgb = new Float32Array(height * width * 3);
    await this.engine.load(this.shape);
  }

  private async memorise(pixels: Uint8ClampedArray, given: Float32Array, into?: Memory): Promise<Memory> {
    padFrame(pixels, this.geometry, this.rgb);
    const memory = into ?? emptyMemory(this.shape);
    // The first frame is also the latest one: it goes into both slots.
    return (await this.engine.step({ frame: this.rgb, memory, write: into ? [0, 1] : [1, 1], given })).memory;
  }

  /** (N, 2, H/4, W/4): each object, and what it is not (by default all the others). */
  private given(planes: readonly Uint8Array[], not?: readonly Uint8Array[], strength = 1): Float32Array {
    const count = this.cells();
    const given = new Float32Array(this.shape.objects * 2 * count);
    planes.forEach((plane, n) => reducePlane(plane, this.geometry, given, 2 * n * count, strength));
    if (not) {
      not.forEach((plane, n) => reducePlane(plane, this.geometry, given, (2 * n + 1) * count, strength));
      return given;
    }
    for (let n = 0; n < this.shape.objects; n++) {
      for (let m = 0; m < planes.length; m++) {
        if (m === n) continue;
        for (let i = 0; i < count; i++) given[(2 * n + 1) * count + i] += given[2 * m * count + i];
      }
    }
    return given;
  }

  private cells(): number {
    return (this.shape.height / 4) * (this.shape.width / 4);
  }

  private found(probabilities: Float32Array, areas: readonly number[]): Found {
    const { inner, net, top, left } = this.geometry;
    const planes = areas.map((_, n) => {
      const plane = new Uint8Array(inner.height * inner.width);
      let to = 0;
      for (let y = 0; y < inner.height; y++) {
        let from = ((n + 1) * net.height + y + top) * net.width + left;
        for (let x = 0; x < inner.width; x++) plane[to++] = 255 * probabilities[from++] + 0.5;
      }
      return plane;
    });
    return { planes, confidence: confidences(probabilities, net, areas) };
  }
}

/** Each pixel to the object that wins it: the network learned to begin with plain masks. */
function hardened(planes: readonly Uint8Array[]): Uint8Array[] {
  const labels = winners(planes, planes[0].length);
  return planes.map((_, n) => labels.map((label) => (label === n + 1 ? 255 : 0)));
}
