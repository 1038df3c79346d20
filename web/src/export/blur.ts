import { type Surface, surface } from './surface';

/**
 * One side of a matte, blurred: a Gaussian of standard deviation `radius` pixels, over that side alone.
 *
 * Pixels of the other side carry no weight, so no halo of their colours comes in. It is done on a smaller picture, and
 * not by the canvas' own filter, which Safari lacks.
 *
 * @param matte the objects, as large as the frame is drawn
 * @param side 'objects', or all that is not
 * @returns a smaller picture, to be drawn as large as the matte
 */
export function blurredSide(
  frame: CanvasImageSource,
  matte: OffscreenCanvas,
  side: 'objects' | 'rest',
  radius: number,
): OffscreenCanvas {
  const { width, height } = matte;
  const shrink = Math.max(1, radius / 3);
  const full = surface(width, height);
  full.drawImage(frame, 0, 0, width, height);
  full.globalCompositeOperation = side === 'objects' ? 'destination-in' : 'destination-out';
  full.drawImage(matte, 0, 0);
  const small = surface(Math.max(1, Math.round(width / shrink)), Math.max(1, Math.round(height / shrink)));
  shrinkInto(small, full.canvas);
  const picture = small.getImageData(0, 0, small.canvas.width, small.canvas.height);
  const weighted = premultiplied(picture.data);
  for (const reach of boxReaches(radius / shrink)) {
    boxBlur(weighted, picture.width, picture.height, 4, 4 * picture.width, reach);
    boxBlur(weighted, picture.height, picture.width, 4 * picture.width, 4, reach);
  }
  divided(weighted, picture.data);
  small.putImageData(picture, 0, 0);
  return small.canvas;
}

/** The frame in squares with sides of `size` pixels, one pixel for each; to be drawn as large as the frame, unsmoothed. */
export function squares(frame: CanvasImageSource, width: number, height: number, size: number): OffscreenCanvas {
  const full = surface(width, height);
  full.drawImage(frame, 0, 0, width, height);
  const small = surface(Math.max(1, Math.round(width / size)), Math.max(1, Math.round(height / size)));
  shrinkInto(small, full.canvas);
  return small.canvas;
}

/** Halving again and again: the canvas reads at most a few pixels around each point, a big step would skip most. */
function shrinkInto(target: Surface, source: OffscreenCanvas): void {
  const { width, height } = target.canvas;
  let from = source;
  while (from.width > 2 * width || from.height > 2 * height) {
    const half = surface(Math.max(width, from.width >> 1), Math.max(height, from.height >> 1));
    half.drawImage(from, 0, 0, half.canvas.width, half.canvas.height);
    from = half.canvas;
  }
  target.drawImage(from, 0, 0, width, height);
}

/** Three boxes in a row come close to a Gaussian; their reaches to each side add up to its variance. */
export function boxReaches(deviation: number): number[] {
  const ideal = (Math.sqrt(4 * deviation * deviation + 1) - 1) / 2; // of one box: variance ((2 r + 1)^2 - 1) / 12, thrice
  return [Math.floor(ideal), Math.round(ideal), Math.ceil(ideal)];
}

function premultiplied(rgba: Uint8ClampedArray): Float32Array {
  const out = new Float32Array(rgba.length);
  for (let i = 0; i < rgba.length; i += 4) {
    const weight = rgba[i + 3]!;
    for (let c = 0; c < 3; c++) out[i + c] = rgba[i + c]! * weight;
    out[i + 3] = weight;
  }
  return out;
}

function divided(weighted: Float32Array, rgba: Uint8ClampedArray): void {
  for (let i = 0; i < rgba.length; i += 4) {
    const weight = Math.max(weighted[i + 3]!, 1e-3); // 0 far from this side, where nobody looks
    for (let c = 0; c < 3; c++) rgba[i + c] = weighted[i + c]! / weight;
    rgba[i + 3] = 255;
  }
}

/** In place: the mean over `reach` samples to each side along lines of `length`; the border repeats. */
function boxBlur(data: Float32Array, length: number, lines: number, step: number, stride: number, reach: number): void {
  if (reach === 0) return;
  const line = new Float32Array(length);
  const clamp = (i: number): number => Math.min(Math.max(i, 0), length - 1);
  for (let l = 0; l < lines; l++) {
    for (let c = 0; c < 4; c++) {
      const start = l * stride + c;
      for (let i = 0; i < length; i++) line[i] = data[start + i * step]!;
      let sum = 0;
      for (let i = -reach; i <= reach; i++) sum += line[clamp(i)]!;
      for (let i = 0; i < length; i++) {
        data[start + i * step] = sum / (2 * reach + 1);
        sum += line[clamp(i + reach + 1)]! - line[clamp(i - reach)]!;
      }
    }
  }
}
