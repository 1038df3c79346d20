/** The picture: the frame, and over it the masks or what becomes of them. */
import type { Session } from '../editor/session';
import type { FrameMasks, TrackedObject } from '../editor/state';
import type { Background } from '../export/types';
import { markRadius } from '../tracking/marks';
import { h } from './dom';
import { Marker, type MarkActions } from './marker';
import { matte, tinted } from './paint';

export type View = 'overlay' | 'cutout' | 'compare';

/** Pixels of the long side of what is drawn on: enough for a screen, little enough to be quick. */
const MOST = 1280;
/** Width of the handle between before and after; the middle of a slider's handle never reaches its ends. */
const HANDLE = 44;

export class Stage {
  view: View = 'overlay';
  background: Background = { kind: 'transparent' };
  readonly marker: Marker;
  readonly element: HTMLElement;

  private readonly canvas = h('canvas', { class: 'view', role: 'img', 'aria-label': 'The video' });
  private readonly split = h('input', { class: 'split', type: 'range', min: 0, max: 100, step: 0.1, value: 50 });
  private readonly frame: HTMLElement;
  /** What is drawn in steps: the frame cut out by the mask. */
  private readonly layer = new OffscreenCanvas(1, 1);
  /** The masks as a picture of the part of the frame that they are of, and of what it was made. */
  private readonly mask = new OffscreenCanvas(1, 1);
  private painted: { masks: FrameMasks; objects: readonly TrackedObject[]; cut: boolean } | undefined;
  private session: Session | undefined;

  constructor(actions: MarkActions) {
    this.marker = new Marker(actions);
    this.split.setAttribute('aria-label', 'Before and after');
    this.frame = h('div', { class: 'frame' }, this.canvas, this.marker.canvas, this.split);
    this.element = h('div', { class: 'stage' }, this.frame);
    this.split.addEventListener('input', () => void this.draw());
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  open(session: Session): void {
    this.session = this.marker.session = session;
    const { width, height } = session.source;
    const scale = Math.min(1, MOST / Math.max(width, height));
    for (const canvas of [this.canvas, this.layer]) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.marker.brush = 2 * markRadius(height, width);
    this.fit();
  }

  /** Draw the current frame. `live`: a picture to draw instead of the stored frame. */
  async draw(live?: CanvasImageSource): Promise<void> {
    const { session } = this;
    if (!session) return;
    const { index } = session;
    const picture = live ?? (await session.source.frame(index));
    if (index !== session.index || session !== this.session) return; // a later one is on its way
    const masks = live ? undefined : session.masks;
    const cut = this.view !== 'overlay' && masks !== undefined;
    this.canvas.classList.toggle('checkered', cut);
    this.split.hidden = this.view !== 'compare' || !masks;
    const context = this.canvas.getContext('2d')!;
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    if (cut) {
      this.paint(masks, true);
      this.drawBackground(context, picture);
      context.drawImage(this.cutOut(picture, masks), 0, 0);
      if (this.view === 'compare') this.drawBefore(context, picture);
    } else {
      context.drawImage(picture, 0, 0, width, height);
      if (masks) {
        this.paint(masks, false);
        this.drawMask(context, masks);
      }
    }
    this.marker.shown = this.view === 'overlay';
    this.marker.draw();
  }

  private paint(masks: FrameMasks, cut: boolean): void {
    const { objects } = this.session!.state;
    const { painted } = this;
    if (painted?.masks === masks && painted.cut === cut && painted.objects === objects) return;
    const image = cut ? matte(masks) : tinted(masks, objects, this.session!.source);
    this.mask.width = image.width;
    this.mask.height = image.height;
    this.mask.getContext('2d')!.putImageData(image, 0, 0);
    this.painted = { masks, objects, cut };
  }

  /** Where it belongs in the frame. */
  private drawMask(
    context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
    { raster: { box } }: FrameMasks,
  ): void {
    const { source } = this.session!;
    const [sx, sy] = [context.canvas.width / source.width, context.canvas.height / source.height];
    context.drawImage(this.mask, box.left * sx, box.top * sy, box.width * sx, box.height * sy);
  }

  private cutOut(picture: CanvasImageSource, masks: FrameMasks): OffscreenCanvas {
    const layer = this.layer.getContext('2d')!;
    const { width, height } = this.layer;
    layer.globalCompositeOperation = 'copy';
    layer.drawImage(picture, 0, 0, width, height);
    layer.globalCompositeOperation = 'destination-in';
    this.drawMask(layer, masks); // which also takes away what lies around it
    return this.layer;
  }

  private drawBackground(context: CanvasRenderingContext2D, picture: CanvasImageSource): void {
    const { width, height } = this.canvas;
    const { background } = this;
    if (background.kind === 'color') {
      context.fillStyle = background.color;
      context.fillRect(0, 0, width, height);
    } else if (background.kind === 'blur') {
      // A preview: shrinking and enlarging blurs enough to judge it; the export blurs properly.
      const [w, h] = [Math.max(8, width >> 5), Math.max(8, height >> 5)];
      const small = new OffscreenCanvas(w, h);
      small.getContext('2d')!.drawImage(picture, 0, 0, w, h);
      context.drawImage(small, 0, 0, width, height);
    } else if (background.kind === 'image') {
      const image = background.image as ImageBitmap;
      const scale = Math.max(width / image.width, height / image.height);
      const [w, h] = [image.width * scale, image.height * scale];
      context.drawImage(image, (width - w) / 2, (height - h) / 2, w, h);
    }
  }

  /** The left part, as it was. */
  private drawBefore(context: CanvasRenderingContext2D, picture: CanvasImageSource): void {
    const { width, height } = this.canvas;
    const inset = HANDLE / 2 / Math.max(HANDLE, this.frame.clientWidth);
    const at = Math.round(width * (inset + (1 - 2 * inset) * (Number(this.split.value) / 100)));
    context.save();
    context.beginPath();
    context.rect(0, 0, at, height);
    context.clip();
    context.drawImage(picture, 0, 0, width, height);
    context.restore();
    context.fillStyle = '#fff';
    context.fillRect(at - 1, 0, 2, height);
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
  }
}
