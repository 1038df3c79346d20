import { blurredSide, squares } from './blur';
import { ring } from './edges';
import { type Surface, surface } from './surface';
import type { Disguise, Look } from './types';

/** Makes what is wanted of frames and mattes; keeps its canvases from frame to frame. */
export class Composer {
  private readonly layer: Surface;
  private readonly matte: Surface;
  private readonly result: Surface;

  constructor(
    private readonly size: { width: number; height: number },
    private readonly look: Look,
  ) {
    const { width, height } = size;
    [this.layer, this.matte, this.result] = [surface(width, height), surface(width, height), surface(width, height)];
  }

  /** Straight RGBA, everything but the objects transparent. */
  cutout(frame: CanvasImageSource, alpha: Uint8Array): ImageData {
    const { width, height } = this.size;
    this.read(alpha);
    const layer = this.disguised(frame);
    if (this.look.outline) {
      layer.globalCompositeOperation = 'destination-in';
      layer.drawImage(this.matte.canvas, 0, 0);
      layer.globalCompositeOperation = 'destination-over';
      alpha = this.drawRing(layer, alpha);
      layer.globalCompositeOperation = 'source-over';
    }
    const pixels = layer.getImageData(0, 0, width, height);
    cutOut(pixels, alpha);
    return pixels;
  }

  /** The objects over the background. */
  picture(frame: CanvasImageSource, alpha: Uint8Array): OffscreenCanvas {
    const { result, look } = this;
    const { width, height } = this.size;
    this.read(alpha);
    result.globalCompositeOperation = 'source-over';
    result.clearRect(0, 0, width, height);
    if (look.background.kind === 'matte') {
      result.fillStyle = '#fff';
      result.fillRect(0, 0, width, height);
      result.globalCompositeOperation = 'destination-in';
      result.drawImage(this.matte.canvas, 0, 0);
      result.globalCompositeOperation = 'destination-over';
      result.fillStyle = '#000';
      result.fillRect(0, 0, width, height);
      return result.canvas;
    }
    this.drawBackground(frame);
    if (look.outline) this.drawRing(result, alpha);
    if (look.background.kind === 'scene' && look.object.kind === 'plain' && !look.outline) return result.canvas;
    const layer = this.disguised(frame);
    layer.globalCompositeOperation = 'destination-in';
    layer.drawImage(this.matte.canvas, 0, 0);
    result.drawImage(layer.canvas, 0, 0);
    return result.canvas;
  }

  private drawBackground(frame: CanvasImageSource): void {
    const { result, matte } = this;
    const { background } = this.look;
    const { width, height } = this.size;
    if (background.kind === 'color') {
      result.fillStyle = background.color;
      result.fillRect(0, 0, width, height);
    } else if (background.kind === 'image') {
      drawCovering(result, background.image);
    } else if (background.kind === 'blur') {
      result.drawImage(blurredSide(frame, matte.canvas, 'rest', background.radius), 0, 0, width, height);
    } else if (background.kind === 'pixels') {
      drawSquares(result, squares(frame, width, height, background.size));
    } else if (background.kind === 'scene' || background.kind === 'grey') {
      result.drawImage(frame, 0, 0, width, height);
      if (background.kind === 'scene') return;
      result.globalCompositeOperation = 'saturation';
      result.fillStyle = '#808080';
      result.fillRect(0, 0, width, height);
      result.globalCompositeOperation = 'source-over';
    }
  }

  /** The line around the objects, under whatever comes next; the matte of both together. */
  private drawRing(target: Surface, alpha: Uint8Array): Uint8Array {
    const { color, width } = this.look.outline!;
    const line = ring(alpha, this.size, width);
    const drawn = surface(this.size.width, this.size.height);
    drawn.putImageData(asMatte(line, this.size), 0, 0);
    drawn.globalCompositeOperation = 'source-in';
    drawn.fillStyle = color;
    drawn.fillRect(0, 0, this.size.width, this.size.height);
    target.drawImage(drawn.canvas, 0, 0);
    return alpha.map((value, i) => Math.max(value, line[i]!));
  }

  /** The frame as its objects are to be seen. */
  private disguised(frame: CanvasImageSource): Surface {
    const { layer, matte } = this;
    const { width, height } = this.size;
    const object: Disguise = this.look.object;
    layer.globalCompositeOperation = 'source-over';
    layer.clearRect(0, 0, width, height);
    if (object.kind === 'blur') {
      layer.drawImage(blurredSide(frame, matte.canvas, 'objects', object.radius), 0, 0, width, height);
    } else if (object.kind === 'pixels') {
      drawSquares(layer, squares(frame, width, height, object.size));
    } else {
      layer.drawImage(frame, 0, 0, width, height);
    }
    return layer;
  }

  private read(alpha: Uint8Array): void {
    const { width, height } = this.size;
    const expected = width * height;
    if (alpha.length !== expected) {
      throw new Error(`Expected a matte of ${width} x ${height} = ${expected} pixels, got ${alpha.length}.`);
    }
    this.matte.putImageData(asMatte(alpha, this.size), 0, 0);
  }
}

/** Black, as opaque as the matte says. */
function asMatte(alpha: Uint8Array, { width, height }: { width: number; height: number }): ImageData {
  const image = new ImageData(width, height);
  const { data } = image;
  for (let p = 0; p < alpha.length; p++) data[4 * p + 3] = alpha[p]!;
  return image;
}

function drawSquares(target: Surface, small: OffscreenCanvas): void {
  target.imageSmoothingEnabled = false;
  target.drawImage(small, 0, 0, target.canvas.width, target.canvas.height);
  target.imageSmoothingEnabled = true;
}

/**
 * In place: everything but the objects transparent. Far from the objects the colours become black, which takes almost
 * no room in a file and shows nothing of the room behind; near them they stay, or lossy compression would darken the
 * edges.
 */
function cutOut({ data, width, height }: ImageData, alpha: Uint8Array): void {
  const near = widened(alpha, width, height, 8);
  const whole = new Uint32Array(data.buffer, data.byteOffset, alpha.length);
  for (let p = 0; p < alpha.length; p++) {
    if (near[p]) data[4 * p + 3] = alpha[p]!;
    else whole[p] = 0;
  }
}

/** Fill the surface with the image, cut off evenly where the shapes differ. */
function drawCovering(target: Surface, image: ImageBitmap | OffscreenCanvas): void {
  const { width, height } = target.canvas;
  const scale = Math.max(width / image.width, height / image.height);
  const [w, h] = [image.width * scale, image.height * scale];
  target.drawImage(image, (width - w) / 2, (height - h) / 2, w, h);
}

/** 1 wherever a pixel of `alpha` within `reach` across and down is not 0. */
export function widened(alpha: Uint8Array, width: number, height: number, reach: number): Uint8Array {
  const out = new Uint8Array(alpha.length);
  for (let p = 0; p < alpha.length; p++) out[p] = alpha[p] ? 1 : 0;
  widenLines(out, width, height, 1, width, reach);
  widenLines(out, height, width, width, 1, reach);
  return out;
}

function widenLines(
  data: Uint8Array,
  length: number,
  lines: number,
  step: number,
  stride: number,
  reach: number,
): void {
  for (let l = 0; l < lines; l++) {
    let last = -Infinity; // the last pixel that was set before anything was widened
    for (let i = 0; i < length; i++) {
      const at = l * stride + i * step;
      if (data[at]) {
        for (let j = Math.max(i - reach, last + 1, 0); j < i; j++) data[l * stride + j * step] = 1;
        last = i;
      } else if (i - last <= reach) {
        data[at] = 1;
      }
    }
  }
}
