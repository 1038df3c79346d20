/** One video being worked on: where the person is, what is marked, and the edits. */
import { USUAL_EDGES, type Edges } from '../export/edges';
import type { Range } from '../export/tracked';
import { plainLook, type Look } from '../export/types';
import { fit, rasterOf, rasterOfAll, unitOf, type Geometry, type Raster } from '../tracking/geometry';
import { line, noMarks, type Marks, type Point } from '../tracking/marks';
import { pack, resample, unpack } from '../tracking/planes';
import { WINDOW } from '../tracking/window';
import type { VideoSource } from '../video/source';
import { colorOf } from './colors';
import { History } from './history';
import { SIZES, type Network } from './network';
import { Pace, type Quality } from './pace';
import {
  drawObject,
  EMPTY,
  isVisible,
  planeOf,
  planesOf,
  removeObject,
  withFrame,
  type Direction,
  type FrameMasks,
  type State,
} from './state';

/** The short side at which marks are read: the network learned it on small pictures, and it is quicker. */
const MARKING_SIZE = 288;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class Session {
  readonly history: History<State>;
  index = 0;
  /** The object that marks go to. */
  active = 1;
  busy: 'refining' | 'tracking' | null = null;
  /** What becomes of the masks, and of the pictures, when they are exported. */
  edges: Edges = USUAL_EDGES;
  look: Look = plainLook({ kind: 'transparent' });
  /** What was exported or kept last. */
  private kept: State = EMPTY;
  private part: Range | null = null;
  readonly pace: Pace;

  constructor(
    readonly source: VideoSource,
    readonly network: Network,
    public quality: Quality,
    private readonly changed: () => void,
  ) {
    this.pace = new Pace(quality === 'auto' ? undefined : quality);
    this.history = new History<State>(EMPTY, changed);
  }

  get state(): State {
    return this.history.current;
  }

  /** Whether there is work that was neither exported nor kept. */
  get unsaved(): boolean {
    return this.state !== this.kept && this.state.frames.size > 0;
  }

  get masks(): FrameMasks | undefined {
    return this.state.frames.get(this.index);
  }

  get frames(): number {
    return this.source.timestamps.length;
  }

  /** Everything in `state` was exported or kept. */
  saved(state: State): void {
    this.kept = state;
  }

  /** The frames between the in and the out point: what is followed and exported. */
  get range(): Range {
    return this.part ?? { first: 0, last: Math.max(0, this.frames - 1) };
  }

  /** Whether only a part of the video is wanted. */
  get isPart(): boolean {
    return this.part !== null;
  }

  /** Begin or end here; null: all of the video again. A point that would come behind the other one takes it along. */
  setRange(range: Partial<Range> | null): void {
    const end = this.frames - 1;
    const inside = (index: number) => Math.min(Math.max(Math.round(index), 0), end);
    let { first, last } = range === null ? { first: 0, last: end } : { ...this.range, ...range };
    [first, last] = [inside(first), inside(last)];
    if (first > last) [first, last] = range?.first === undefined ? [last, last] : [first, first];
    this.part = first === 0 && last === end ? null : { first, last };
    this.changed();
  }

  /** Whether following and playing stop before this frame. */
  endsBefore(index: number, direction: Direction): boolean {
    const { first, last } = this.range;
    return index < 0 || index >= this.frames || index === (direction > 0 ? last + 1 : first - 1);
  }

  setEdges(edges: Edges): void {
    this.edges = edges;
    this.changed();
  }

  setLook(look: Look): void {
    this.look = look;
    this.changed();
  }

  setQuality(quality: Quality): void {
    this.quality = quality;
    this.pace.size = quality === 'auto' ? new Pace().size : quality;
    this.changed();
  }

  /** After each frame that was followed: whether the working size is smaller from now on, to hold the pace. */
  slow(milliseconds: number): boolean {
    return this.quality === 'auto' && this.pace.add(milliseconds) !== null;
  }

  /** A smaller working size from now on; null where there is none. */
  shrink(): number | null {
    const smaller = SIZES.find((size) => size < this.pace.size);
    if (smaller) this.pace.size = smaller;
    return smaller ?? null;
  }

  /** The network's view of the video at the working size. */
  get geometry(): Geometry {
    const { height, width } = this.source;
    return fit({ height, width }, this.pace.size, true);
  }

  /** The network's view of it while marks are read. */
  get marking(): Geometry {
    const { height, width } = this.source;
    return fit({ height, width }, Math.min(this.pace.size, MARKING_SIZE), true);
  }

  /** What is drawn on: the whole frame, as fine as a window shows it at most, and no finer than the video. */
  get canvas(): Raster {
    const { geometry } = this;
    const { height, width } = geometry;
    const unit = unitOf(geometry);
    const cells = (many: number) => Math.round(many * Math.max(unit, Math.min(1, WINDOW.MOST_ZOOM * unit)));
    return rasterOfAll({ height: cells(height), width: cells(width) }, { height, width });
  }

  undo(): void {
    this.history.undo();
    this.chooseKnown();
  }

  redo(): void {
    this.history.redo();
    this.chooseKnown();
  }

  addObject(): void {
    this.history.commit(this.withNewObject());
  }

  remove(id: number): void {
    this.history.commit(removeObject(this.state, id));
    this.chooseKnown();
  }

  rename(id: number, name: string): void {
    const objects = this.state.objects.map((object) => (object.id === id ? { ...object, name } : object));
    this.history.commit({ ...this.state, objects });
  }

  /** Taps make a mask; a mask that came otherwise is mended by them. */
  tap(point: Point, on: boolean): Promise<void> {
    const made = this.masks?.marks.has(this.active);
    if (!made && isVisible(this.masks, this.active)) return this.mend(point, on);
    return this.mark((marks) => ({ ...marks, [on ? 'on' : 'off']: [...marks[on ? 'on' : 'off'], point] }), true);
  }

  /**
   * What a tap would find, without marking anything: a plane of `raster`. Null where nothing would be found, or where a
   * tap mends what is there.
   */
  async foresee(point: Point): Promise<{ plane: Uint8Array; raster: Raster } | null> {
    const { index, active, canvas } = this;
    if (this.busy || this.masks?.ids.includes(active)) return null;
    const marks = { ...noMarks(), on: [point] };
    const plane = await this.propose(index, marks, null, canvas);
    if (this.index !== index || this.busy || !covers(plane, marks.on, canvas)) return null;
    return { plane, raster: canvas };
  }

  box(box: Box): Promise<void> {
    return this.mark(() => ({ ...noMarks(), box }));
  }

  /** A stroke over a new object is a rough mark; on one that has a mask, it is the mask. */
  async stroke(points: Point[], radius: number, erase: boolean): Promise<void> {
    const { canvas } = this;
    const plane = planeOf(this.masks, this.active, canvas);
    if (!plane && erase) return;
    if (!plane) return this.mark((marks) => ({ ...marks, strokes: [...marks.strokes, points] }));
    const [sx, sy] = [canvas.width / canvas.box.width, canvas.height / canvas.box.height];
    const scaled = points.map(({ x, y }) => ({ x: x * sx, y: y * sy }));
    line(plane, canvas, scaled, Math.max(0.75, radius * sx), erase ? 0 : 255);
    this.commit(this.index, this.active, plane, canvas, null);
  }

  /** Take the active object out of this frame: it is hidden here. */
  clear(): void {
    if (!this.masks?.ids.includes(this.active)) return;
    const { canvas } = this;
    this.commit(this.index, this.active, new Uint8Array(canvas.height * canvas.width), canvas, null);
  }

  /** `further`: the mark is one more of an object that is known by marks, so its mask so far counts. */
  private async mark(change: (marks: Marks) => Marks, further = false): Promise<void> {
    await this.working(async () => {
      const { index, active, canvas } = this;
      const made = this.masks?.marks.get(active);
      const marks = change(made ?? noMarks());
      const before = further && made ? planeOf(this.masks, active, canvas) : null;
      const mask = await this.propose(index, marks, before, canvas);
      if (!covers(mask, marks.on, canvas)) {
        throw new Error('No object was found there. Tap its middle, draw a box around it or paint over it.');
      }
      this.commit(index, active, await this.obeying(index, mask, marks, canvas), canvas, marks);
    });
  }

  private async mend(point: Point, on: boolean): Promise<void> {
    await this.working(async () => {
      const { index, active, canvas } = this;
      const before = planeOf(this.masks, active, canvas)!;
      const marks = { ...noMarks(), [on ? 'on' : 'off']: [point] };
      this.commit(index, active, await this.obeying(index, before, marks, canvas), canvas, null);
    });
  }

  /** A mask that the points of the marks agree with, whatever made it. */
  private async obeying(index: number, mask: Uint8Array, marks: Marks, canvas: Raster): Promise<Uint8Array> {
    if (!marks.on.length && !marks.off.length) return mask;
    const masks = this.state.frames.get(index);
    const others = (masks?.ids ?? []).filter((id) => id !== this.active);
    const known = masks ? planesOf(masks, others, canvas) : [];
    const plane = await this.network.obey(this.source, index, pack(mask), known, canvas, marks);
    return unpack(plane, canvas.height * canvas.width);
  }

  /** The network's idea of what is marked in a frame; masks are planes of `canvas`. */
  private async propose(index: number, marks: Marks, before: Uint8Array | null, canvas: Raster): Promise<Uint8Array> {
    const small = this.marking;
    const known = before && pack(resample(before, canvas, rasterOf(small)));
    const { planes, raster } = await this.network.propose(this.source, index, small, marks, known);
    return resample(unpack(planes[0], raster.height * raster.width), raster, canvas);
  }

  /** Marks go to an object that is there. */
  private chooseKnown(): void {
    const { objects } = this.state;
    if (!objects.some(({ id }) => id === this.active)) this.active = objects.at(-1)?.id ?? 1;
    this.changed();
  }

  /** A state with one object more, which is the active one from now on. */
  private withNewObject(): State {
    const { objects } = this.state;
    if (this.network.mostObjects && objects.length >= this.network.mostObjects) {
      throw new Error(`At most ${this.network.mostObjects} objects can be followed at once.`);
    }
    const id = objects.reduce((most, object) => Math.max(most, object.id), 0) + 1;
    this.active = id;
    return { ...this.state, objects: [...objects, { id, name: `Object ${id}`, color: colorOf(id) }] };
  }

  /**
   * A frame with an object as drawn; an object that is not there yet comes into being. The frame is where the person
   * was when the mark was made, who may have gone on since.
   */
  private commit(index: number, active: number, plane: Uint8Array, canvas: Raster, marks: Marks | null): void {
    const known = this.state.objects.some((object) => object.id === active);
    const state = known ? this.state : this.withNewObject();
    const masks = drawObject(state.frames.get(index), known ? active : this.active, plane, canvas, marks);
    this.history.commit(withFrame(state, index, masks));
  }

  private async working<T>(work: () => Promise<T>): Promise<T> {
    this.busy = 'refining';
    this.changed();
    try {
      return await work();
    } finally {
      this.busy = null;
      this.changed();
    }
  }
}

/** Whether there is a mask at all, under at least half of the taps. */
function covers(mask: Uint8Array, taps: readonly Point[], { height, width, box }: Raster): boolean {
  const hits = taps.filter(({ x, y }) => {
    const row = Math.floor((y * height) / box.height);
    return mask[row * width + Math.floor((x * width) / box.width)] > 127;
  });
  return mask.some((value) => value > 127) && 2 * hits.length >= taps.length;
}
