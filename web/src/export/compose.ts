import { blurredBackground } from './blur';
import { checkedPlane } from './frames';
import { type Surface, surface } from './surface';
import type { Background, TrackedVideo } from './types';

/** Cuts the objects out of frames and puts them over a background; keeps its canvases from frame to frame. */
export class Composer {
  private readonly object: Surface;
  private readonly result: Surface;

  constructor(
    private readonly video: TrackedVideo,
    private readonly background: Background,
  ) {
    this.object = surface(video.width, video.height);
    this.result = surface(video.width, video.height);
  }

  /** Frame i as straight RGBA, everything but the objects transparent. */
  async cutout(i: number): Promise<ImageData> {
    const { pixels, alpha } = await this.read(i);
    cutOut(pixels, alpha);
    return pixels;
  }

  /** Frame i's objects over the background. */
  async picture(i: number): Promise<OffscreenCanvas> {
    const { width, height } = this.video;
    const { result, object, background } = this;
    const { pixels, alpha } = await this.read(i);
    result.clearRect(0, 0, width, height);
    if (background.kind === 'matte') {
      for (let p = 0; p < alpha.length; p++) pixels.data.set([alpha[p]!, alpha[p]!, alpha[p]!, 255], 4 * p);
      result.putImageData(pixels, 0, 0);
      return result.canvas;
    }
    if (background.kind === 'color') {
      result.fillStyle = background.color;
      result.fillRect(0, 0, width, height);
    } else if (background.kind === 'image') {
      drawCovering(result, background.image);
    } else if (background.kind === 'blur') {
      result.drawImage(blurredBackground(pixels, alpha, background.radius), 0, 0, width, height);
    }
    cutOut(pixels, alpha);
    object.putImageData(pixels, 0, 0);
    result.drawImage(object.canvas, 0, 0);
    return result.canvas;
  }

  private async read(i: number): Promise<{ pixels: ImageData; alpha: Uint8Array }> {
    const { width, height } = this.video;
    const alpha = checkedPlane(this.video, await this.video.alpha(i), 'a matte');
    const frame = await this.video.frame(i);
    this.object.clearRect(0, 0, width, height);
    this.object.drawImage(frame, 0, 0, width, height);
    return { pixels: this.object.getImageData(0, 0, width, height), alpha };
  }
}

/**
 * In place: everything but the objects transparent. Far from the objects the colours become black, which takes almost
 * no room in a file and shows nothing of the room behind; near them they stay, or lossy compression would darken the
 * edges.
 */
function cutOut({ data, width, height }: ImageData, alpha: Uint8Array): void {
  const near = widened(alpha, width, height, 8);
  for (let p = 0; p < alpha.length; p++) {
    if (near[p]) data[4 * p + 3] = alpha[p]!;
    else data.fill(0, 4 * p, 4 * p + 4);
  }
}

/** Fill the surface with the image, cut off evenly where the shapes differ. */
function drawCovering(target: Surface, image: CanvasImageSource): void {
  const { width, height } = target.canvas;
  const [imageWidth, imageHeight] = sizeOf(image);
  const scale = Math.max(width / imageWidth, height / imageHeight);
  const [w, h] = [imageWidth * scale, imageHeight * scale];
  target.drawImage(image, (width - w) / 2, (height - h) / 2, w, h);
}

function sizeOf(image: CanvasImageSource): [number, number] {
  if ('displayWidth' in image) return [image.displayWidth, image.displayHeight];
  if ('videoWidth' in image) return [image.videoWidth, image.videoHeight];
  if ('naturalWidth' in image) return [image.naturalWidth, image.naturalHeight];
  if (typeof image.width === 'number' && typeof image.height === 'number') return [image.width, image.height];
  throw new Error('An SVG picture has no size of its own; choose a PNG, JPEG or WebP as the background.');
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
