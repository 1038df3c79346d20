/** Follows objects from frame to frame, through a window; lives in the worker beside the engine. */
import { confidences } from './confidence';
import {
  isOf,
  padFrame,
  rasterOf,
  reducePlane,
  shown,
  widened,
  type Geometry,
  type Raster,
  type Size,
} from './geometry';
import { drawMarks, PROMPT_STRENGTH, type Marks } from './marks';
import { strays } from './parts';
import { resample, winners } from './planes';
import { alike, annotatedCells, CELL, keysOf, someCells, type Annotated } from './recall';
import { emptyMemory, oldestSlot, SLOTS, type Memory, type StepEngine, type StepShape } from './step';
import {
  extentOf,
  extentOfMask,
  firstLook,
  isCut,
  isRoomy,
  joinedExtents,
  lookAround,
  nextLook,
  windowAt,
  wholeFrame,
  WINDOW,
  type Extent,
  type LookAhead,
} from './window';

/** A frame of the video, of which only what is looked at is read. */
export interface Frame {
  /** RGBA of the part that a geometry shows, at its inner size. */
  pixels(geometry: Geometry): Uint8ClampedArray;
  /** How often colours occur in it, see `paletteOf`. */
  palette(): Float32Array;
}

/** A frame with the masks of the objects on it. */
export interface Drawn {
  frame: Frame;
  planes: Uint8Array[];
  /** Of the planes. */
  raster: Raster;
  /** Where to look from it on, and the masks are as a window showed them; null: around the masks. */
  look: LookAhead | null;
}

export interface Found {
  /** One plane per object, 0..255. */
  planes: Uint8Array[];
  /** Of the planes: what the window showed. Outside of it there is nothing. */
  raster: Raster;
  confidence: number[];
  /** Which of the objects (0, 1, ...) each may have been taken for; null for none. */
  alike: (number | null)[];
  /** Where the next frame is looked at. */
  look: LookAhead;
}

export class Tracker {
  /** Of whole frames. */
  private whole!: Geometry;
  private shape!: StepShape;
  private memory!: Memory;
  /** Of the latest frame. */
  private time = 0;
  private look!: LookAhead;
  /** Of the latest frame. */
  private palette!: Float32Array;
  /** How many are followed. */
  private followed = 0;
  private annotated!: Annotated;
  private rgb = new Float32Array(0);

  constructor(private readonly engine: StepEngine) {}

  mostObjects(): number {
    return Math.max(...this.engine.objects);
  }

  /** The first run of a graph compiles it and takes long: have it behind us. */
  async warm(whole: Geometry): Promise<void> {
    await this.use(whole, 1);
    await this.engine.step({ frame: this.rgb, memory: emptyMemory(this.shape), write: [0, 1], time: 0, given: null });
  }

  /**
   * The mask of one object from rough marks; `before` is its mask so far, if it has one: a plane of all that `whole`
   * shows. Ends a track: `begin` anew.
   */
  async propose(whole: Geometry, frame: Frame, marks: Marks, before: Uint8Array | null): Promise<Found> {
    await this.use(whole, 1);
    this.time = 0;
    const { on, off } = drawMarks(marks, whole);
    const marked = extentOfMask((i) => on[i] > 127 || off[i] > 127, rasterOf(whole));
    const first = windowAt(whole, lookAround(whole, marked));
    const known = before
      ? { plane: before, raster: rasterOf(whole) }
      : { plane: (await this.proposal(first, frame, marks, null)).planes[0], raster: rasterOf(first) };
    // The second look knows the first one, and is through a window around what was found and what was marked: small
    // objects are seen at their own size.
    const found = resample(known.plane, known.raster, rasterOf(whole));
    const look = firstLook(
      whole,
      extentOfMask((i) => found[i] > 127 || on[i] > 127, rasterOf(whole)),
    );
    return { ...(await this.proposal(windowAt(whole, look), frame, marks, known)), look };
  }

  /** Follow the objects of an annotated frame; `previous` is the frame to go on from, if it is another one. */
  async begin(whole: Geometry, anchor: Drawn, previous: Drawn | null): Promise<void> {
    const hard = { ...anchor, planes: hardened(anchor.planes) };
    if (!isRoomy(whole, extentsOf(hard))) whole = widened(whole);
    await this.use(whole, anchor.planes.length);
    const first = this.around(hard);
    let geometry = windowAt(whole, first);
    const given = this.given(geometry, seen(hard, geometry));
    this.followed = anchor.planes.length;
    this.time = 0;
    this.memory = await this.memorise(geometry, anchor.frame, given, emptyMemory(this.shape), [0, 1]);
    this.annotated = annotatedCells(this.keys(this.memory, 0), this.covered(given));
    this.look = first;
    if (previous) {
      const last = previous.look ?? this.around(previous);
      geometry = previous.look && isOf(whole, previous.raster) ? shown(whole, previous.raster) : windowAt(whole, last);
      const masks = this.given(geometry, seen(previous, geometry));
      this.memory = await this.memorise(geometry, previous.frame, masks, this.memory, [1]);
      this.look = last;
    }
    this.palette = (previous ?? anchor).frame.palette();
  }

  async step(frame: Frame): Promise<Found> {
    const palette = frame.palette();
    const look = isCut(this.palette, palette) ? wholeFrame(this.whole) : this.look;
    const geometry = windowAt(this.whole, look);
    padFrame(frame.pixels(geometry), geometry, this.rgb);
    const time = ++this.time;
    const write = [oldestSlot(this.memory)];
    const out = await this.engine.step({ frame: this.rgb, memory: this.memory, write, time, given: null });
    const looks = alike(this.keys(out.memory, write[0]), this.annotated);
    const trust = confidences(out.probabilities, geometry, this.followed, out.rating, looks);
    const extents = this.extents(out.probabilities, geometry);
    const found = extents.filter((extent, n) => extent !== null && trust.confidence[n] >= WINDOW.TRUSTED) as Extent[];
    // Where one of them is lost, it is looked for, which is why all must be found.
    const all = found.length === this.followed ? joinedExtents(found) : null;
    this.look = nextLook(this.whole, look, all);
    this.memory = out.memory;
    this.palette = palette;
    const planes = extents.map((_, n) => inner(out.probabilities, n + 1, geometry));
    return { planes, raster: rasterOf(geometry), ...trust, look: this.look };
  }

  /** Make room for so many objects; what is left over stays empty. */
  private async use(whole: Geometry, objects: number): Promise<void> {
    const room = this.engine.objects.find((most) => most >= objects);
    if (!room) throw new Error(`At most ${this.mostObjects()} objects can be followed at once.`);
    const { height, width } = whole.net;
    this.whole = whole;
    this.shape = { height, width, objects: room };
    this.rgb = new Float32Array(height * width * 3);
    await this.engine.load(this.shape);
  }

  /** What is marked, as one look shows it; `before` is what it knows of it. */
  private async proposal(
    geometry: Geometry,
    frame: Frame,
    marks: Marks,
    before: { plane: Uint8Array; raster: Raster } | null,
  ) {
    const { on, off } = drawMarks(marks, geometry);
    const raster = rasterOf(geometry);
    const given = this.given(geometry, [on], [off], PROMPT_STRENGTH);
    let memory = await this.memorise(geometry, frame, given, emptyMemory(this.shape), [0, 1]);
    if (before) {
      const known = this.given(geometry, [resample(before.plane, before.raster, raster)]);
      memory = await this.memorise(geometry, frame, known, memory, [1]);
    }
    const out = await this.engine.step({ frame: this.rgb, memory, write: [2], time: 1, given: null });
    dropStrays(out.probabilities, on, geometry);
    const trust = confidences(out.probabilities, geometry, 1, out.rating, null);
    return { planes: [inner(out.probabilities, 1, geometry)], raster, ...trust };
  }

  /** The window around masks; objects that are not to be seen do not count. */
  private around(drawn: Drawn): LookAhead {
    return firstLook(this.whole, joinedExtents(extentsOf(drawn).filter((extent) => extent !== null)));
  }

  /** The memory with a frame in some of its slots; the annotated frame is also the latest one, so it goes into two. */
  private async memorise(
    geometry: Geometry,
    frame: Frame,
    given: Float32Array,
    memory: Memory,
    write: readonly number[],
  ): Promise<Memory> {
    padFrame(frame.pixels(geometry), geometry, this.rgb);
    return (await this.engine.step({ frame: this.rgb, memory, write, time: this.time, given })).memory;
  }

  /** (N, 2, H/4, W/4): each object, and what it is not (by default all the others). */
  private given(
    geometry: Geometry,
    planes: readonly Uint8Array[],
    not?: readonly Uint8Array[],
    strength = 1,
  ): Float32Array {
    const count = this.cells();
    const given = new Float32Array(this.shape.objects * 2 * count);
    planes.forEach((plane, n) => reducePlane(plane, geometry, given, 2 * n * count, strength));
    if (not) {
      not.forEach((plane, n) => reducePlane(plane, geometry, given, (2 * n + 1) * count, strength));
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

  /** The keys of some cells of a remembered frame; see `recall.ts`. */
  private keys({ keys }: Memory, slot: number): Float32Array {
    const grid = this.grid();
    return keysOf(keys, { slot, slots: SLOTS, cells: grid.height * grid.width }, someCells(grid));
  }

  /** How much each object covers of the same cells, of (N, 2, H/4, W/4). */
  private covered(given: Float32Array): Float32Array[] {
    const grid = this.grid();
    const side = CELL / 4;
    const row = this.shape.width / 4;
    return Array.from({ length: this.followed }, (_, n) =>
      Float32Array.from(someCells(grid), (cell) => {
        const first = 2 * n * this.cells() + Math.floor(cell / grid.width) * side * row + (cell % grid.width) * side;
        let sum = 0;
        for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) sum += given[first + y * row + x];
        return sum / side ** 2;
      }),
    );
  }

  /** Of the memory's cells. */
  private grid(): Size {
    return { height: this.shape.height / CELL, width: this.shape.width / CELL };
  }

  private cells(): number {
    return (this.shape.height / 4) * (this.shape.width / 4);
  }

  /** Where each object wins; null for one that is nowhere. */
  private extents(probabilities: Float32Array, geometry: Geometry): (Extent | null)[] {
    const { height, width } = this.shape;
    const step = WINDOW.STEP;
    const columns = width / step;
    const labels = new Uint8Array((height / step) * columns);
    for (let i = 0; i < labels.length; i++) {
      const at = Math.floor(i / columns) * step * width + (i % columns) * step;
      let best = probabilities[at];
      for (let n = 1; n <= this.followed; n++) {
        const p = probabilities[n * height * width + at];
        if (p > best) [best, labels[i]] = [p, n];
      }
    }
    return Array.from({ length: this.followed }, (_, n) => extentOf((i) => labels[i] === n + 1, geometry));
  }
}

/** A channel of probabilities (1 + N, H, W) without the padding, as a plane. */
function inner(probabilities: Float32Array, channel: number, { inner, net, top, left }: Geometry): Uint8Array {
  const plane = new Uint8Array(inner.height * inner.width);
  let to = 0;
  for (let y = 0; y < inner.height; y++) {
    let from = (channel * net.height + y + top) * net.width + left;
    for (let x = 0; x < inner.width; x++) plane[to++] = 255 * probabilities[from++] + 0.5;
  }
  return plane;
}

/** What is far from the marks (a plane) is not the first object of probabilities (1 + N, H, W): see `parts.ts`. */
function dropStrays(probabilities: Float32Array, marks: Uint8Array, { inner, net, top, left }: Geometry): void {
  const cells = net.height * net.width;
  const at = (i: number) => (Math.floor(i / inner.width) + top) * net.width + (i % inner.width) + left;
  const mask = Uint8Array.from(marks, (_, i) => (probabilities[cells + at(i)] > 0.5 ? 1 : 0));
  strays(mask, marks, inner).forEach((stray, i) => {
    if (!stray) return;
    probabilities[at(i)] += probabilities[cells + at(i)];
    probabilities[cells + at(i)] = 0;
  });
}

/** Masks as a geometry shows them. */
function seen({ planes, raster }: Drawn, geometry: Geometry): Uint8Array[] {
  return planes.map((plane) => resample(plane, raster, rasterOf(geometry)));
}

/** Each pixel to the object that wins it: the network learned to begin with plain masks. */
function hardened(planes: readonly Uint8Array[]): Uint8Array[] {
  const labels = winners(planes, planes[0].length);
  return planes.map((_, n) => labels.map((label) => (label === n + 1 ? 255 : 0)));
}

/** Of each object; null for one that is not to be seen. */
function extentsOf({ planes, raster }: Drawn): (Extent | null)[] {
  return planes.map((plane) => extentOfMask((i) => plane[i] > 127, raster));
}
