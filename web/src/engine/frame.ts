/** A picture of the video, of which only what is looked at is drawn: a window of 4K costs what one of 480p costs. */
import type { Geometry, Size } from '../tracking/geometry';
import type { Frame } from '../tracking/tracker';
import { paletteOf, paletteStep } from '../tracking/window';

type Context = OffscreenCanvasRenderingContext2D;

/** Canvases that are drawn on again and again: the result, and two for what lies between it and the picture. */
const canvases: Context[] = [];

export class BitmapFrame implements Frame {
  constructor(private readonly bitmap: ImageBitmap) {}

  /**
   * Canvases read four pixels for each that they draw, and leave out the rest: what is to be more than twice as small
   * is halved in steps, which comes to a mean of all pixels.
   */
  pixels({ inner, box }: Geometry): Uint8ClampedArray {
    return this.part(inner, box);
  }

  /** RGBA of a part of the picture at a size. */
  part(inner: Size, box: Geometry['box']): Uint8ClampedArray {
    let times = 1;
    while (box.height > 2 * times * inner.height || box.width > 2 * times * inner.width) times *= 2;
    let source: CanvasImageSource = this.bitmap;
    let from = box;
    for (; times > 1; times /= 2) {
      const size = { height: times * inner.height, width: times * inner.width };
      const context = cleared(source === canvases[1]?.canvas ? 2 : 1, size);
      context.drawImage(source, from.left, from.top, from.width, from.height, 0, 0, size.width, size.height);
      source = context.canvas;
      from = { top: 0, left: 0, ...size };
    }
    const context = cleared(0, inner);
    context.drawImage(source, from.left, from.top, from.width, from.height, 0, 0, inner.width, inner.height);
    return context.getImageData(0, 0, inner.width, inner.height).data;
  }

  /** Of the pixels that the Python package takes: the first of each `step`, so that one is drawn for each. */
  palette(): Float32Array {
    const { height, width } = this.bitmap;
    const step = paletteStep({ height, width });
    const size = { height: Math.ceil(height / step), width: Math.ceil(width / step) };
    const context = cleared(0, size);
    const shift = 0.5 - 0.5 / step; // the middle of a drawn pixel is that of the one that is read
    context.imageSmoothingEnabled = false;
    context.setTransform(1 / step, 0, 0, 1 / step, shift, shift);
    context.drawImage(this.bitmap, 0, 0);
    context.resetTransform();
    context.imageSmoothingEnabled = true;
    return paletteOf(context.getImageData(0, 0, size.width, size.height).data, size);
  }
}

/** One of the canvases, of a size, with nothing on it. */
function cleared(which: number, { height, width }: Size): Context {
  const context = (canvases[which] ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!);
  const { canvas } = context;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  else context.clearRect(0, 0, width, height);
  return context;
}
