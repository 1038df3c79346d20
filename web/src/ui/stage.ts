/** The picture: the frame, and over it the masks or what becomes of them. */
import type { Session } from '../editor/session';
import type { FrameMasks, TrackedObject } from '../editor/state';
import { Previewer } from '../export/client';
import type { Edges } from '../export/edges';
import type { Look } from '../export/types';
import type { Size } from '../tracking/geometry';
import { h, iconButton } from './dom';
import { ICONS } from './icons';
import { Lens } from './lens';
import { Marker, type MarkActions } from './marker';
import { ObjectBar, type BarActions } from './objectbar';
import { ghost, tinted } from './paint';
import { previewOf } from './preview';

export type View = 'overlay' | 'cutout' | 'compare';

/** Width of the brush at first, as a part of the longer side. */
const BRUSH = 0.03;

/** Pixels of the long side of what is drawn on: enough for a screen, little enough to be quick. */
const MOST = 1280;
/** Width of the handle between before and after; the middle of a slider's handle never reaches its ends. */
const HANDLE = 44;

/** What a mask was painted from: where none of it has changed, the painting stays. */
interface Painted {
  masks: FrameMasks;
  objects: readonly TrackedObject[];
  edges: Edges;
}

export class Stage {
  view: View = 'overlay';
  readonly marker: Marker;
  readonly element: HTMLElement;
  readonly lens = new Lens();
  readonly bar: ObjectBar;

  private readonly canvas = h('canvas', { class: 'view', role: 'img', 'aria-label': 'The video' });
  private readonly split = h('input', {
    class: 'split',
    type: 'range',
    min: 0,
    max: 100,
    step: 0.1,
    value: 50,
    hidden: true,
  });
  readonly closeness: HTMLButtonElement;
  private readonly frame: HTMLElement;
  /** The masks as a picture of the part of the frame that they are of, and of what it was made. */
  private readonly mask = new OffscreenCanvas(1, 1);
  private painted: Painted | undefined;
  /** The frame as it will be exported, and of what it was made. */
  private made: { index: number; masks: FrameMasks; look: Look; edges: Edges; picture: ImageBitmap } | undefined;
  private readonly previewer = new Previewer();
  /** What a tap would find, as a picture of the whole frame. */
  private foreseen: ImageBitmap | null = null;
  private session: Session | undefined;

  /** `seenAnew` is told when the picture is seen otherwise: closer, or larger. */
  constructor(
    actions: MarkActions & BarActions,
    private readonly seenAnew: () => void,
  ) {
    this.marker = new Marker(actions, this.lens, () => this.moved());
    this.bar = new ObjectBar(this.lens, actions);
    this.split.setAttribute('aria-label', 'Before and after');
    this.closeness = iconButton(ICONS.fit, 'Show all of the picture', '0', () => this.showAll(), 'closeness');
    this.closeness.hidden = true;
    this.frame = h(
      'div',
      { class: 'frame' },
      this.canvas,
      this.marker.canvas,
      this.split,
      this.bar.element,
      this.closeness,
    );
    this.element = h('div', { class: 'stage' }, this.frame);
    this.split.addEventListener('input', () => void this.draw());
    this.frame.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  open(session: Session): void {
    this.session = this.marker.session = session;
    const { width, height } = session.source;
    const scale = Math.min(1, MOST / Math.max(width, height));
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.marker.brush = Math.max(2, Math.round(BRUSH * Math.max(height, width)));
    this.made?.picture.close();
    this.made = this.painted = undefined;
    this.foreseen = null;
    this.lens.reset(session.source);
    this.closeness.hidden = true;
    this.fit();
  }

  showAll(): void {
    if (!this.session) return;
    this.lens.reset(this.session.source);
    this.moved();
  }

  /** Closer or farther, around the middle. */
  zoom(factor: number): void {
    this.lens.zoomAt(0.5, 0.5, factor);
    this.moved();
  }

  /** Show what a tap would find, or no more. */
  async foresee(found: { plane: Uint8Array; raster: Size } | null): Promise<void> {
    if (!found && !this.foreseen) return;
    this.foreseen?.close();
    this.foreseen = found && (await createImageBitmap(ghost(found.plane, found.raster)));
    await this.draw();
  }

  /** Draw the current frame. */
  async draw(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const { index, masks } = session;
    const picture = await session.source.frame(index);
    if (index !== session.index || session !== this.session) return; // a later one is on its way
    const cut = this.view !== 'overlay' && masks !== undefined;
    const after = cut ? await this.exported(session, index, masks, picture) : null;
    if (index !== session.index || session !== this.session || (cut && !after)) return;
    this.canvas.classList.toggle('checkered', cut);
    this.split.hidden = this.view !== 'compare' || !masks;
    const context = this.canvas.getContext('2d')!;
    context.resetTransform();
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.lens.apply(context);
    const { width, height } = session.source;
    if (after) {
      context.drawImage(after, 0, 0, width, height);
      if (this.view === 'compare') await this.drawBefore(context, session, index);
    } else {
      context.drawImage(picture, 0, 0, width, height);
      if (masks) this.drawMask(context, session, masks);
      if (this.foreseen) context.drawImage(this.foreseen, 0, 0, width, height);
    }
    this.marker.shown = this.view === 'overlay';
    this.marker.draw();
  }

  /** A frame as it will be exported, small; null where another is on its way. */
  private async exported(
    session: Session,
    index: number,
    masks: FrameMasks,
    picture: ImageBitmap,
  ): Promise<ImageBitmap | null> {
    const { look, edges } = session;
    const { made } = this;
    const same = made?.index === index && made.masks === masks && made.look === look && made.edges === edges;
    if (same) return made.picture;
    const found = await previewOf(this.previewer, session, masks, picture, look, this.canvas.width);
    if (!found) return null;
    this.made?.picture.close();
    this.made = { index, masks, look, edges, picture: found };
    return found;
  }

  private drawMask(context: CanvasRenderingContext2D, session: Session, masks: FrameMasks): void {
    const { state, edges, source } = session;
    const { painted } = this;
    if (painted?.masks !== masks || painted.objects !== state.objects || painted.edges !== edges) {
      const image = tinted(masks, state.objects, source, edges);
      [this.mask.width, this.mask.height] = [image.width, image.height];
      this.mask.getContext('2d')!.putImageData(image, 0, 0);
      this.painted = { masks, objects: state.objects, edges };
    }
    const { box } = masks.raster;
    context.drawImage(this.mask, box.left, box.top, box.width, box.height);
  }

  /** The left part, as it was. */
  private async drawBefore(context: CanvasRenderingContext2D, session: Session, index: number): Promise<void> {
    const { width, height } = this.canvas;
    const inset = HANDLE / 2 / Math.max(HANDLE, this.frame.clientWidth);
    const at = Math.round(width * (inset + (1 - 2 * inset) * (Number(this.split.value) / 100)));
    const picture = await session.source.frame(index); // it may have been put away meanwhile
    context.save();
    context.resetTransform();
    context.beginPath();
    context.rect(0, 0, at, height);
    context.clip();
    this.lens.apply(context);
    context.drawImage(picture, 0, 0, session.source.width, session.source.height);
    context.restore();
    context.resetTransform();
    context.fillStyle = '#fff';
    context.fillRect(at - 1, 0, 2, height);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const box = this.frame.getBoundingClientRect();
    const [u, v] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    // Browsers tell a pinch on a trackpad as a wheel with Ctrl, in much smaller steps.
    this.lens.zoomAt(u, v, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)));
    this.moved();
  }

  /** After the lens has moved. */
  private moved(): void {
    this.closeness.hidden = this.lens.zoom === 1;
    this.closeness.innerHTML = `${ICONS.fit}<span>${Math.round(100 * this.lens.zoom)} %</span>`;
    void this.draw();
    this.seenAnew();
  }

  /** As large as there is room for. */
  private fit(): void {
    if (!this.session) return;
    const { width, height } = this.session.source;
    const room = this.element.getBoundingClientRect();
    const scale = Math.min(room.width / width, room.height / height);
    const [w, h] = [Math.floor(width * scale), Math.floor(height * scale)];
    Object.assign(this.frame.style, { width: `${w}px`, height: `${h}px` });
    this.marker.resize(w, h);
    this.seenAnew();
  }
}
