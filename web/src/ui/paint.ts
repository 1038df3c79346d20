/** Masks as pictures of the network's size, to be drawn over the frame. */
import { rgbOf } from '../editor/colors';
import type { FrameMasks, TrackedObject } from '../editor/state';
import { unpack, winners } from '../tracking/planes';

const FILL = 0.42;
const OUTLINE = 0.95;

/** Objects tinted in their colours, with outlines. */
export function tinted(masks: FrameMasks, objects: readonly TrackedObject[]): ImageData {
  const { height, width } = masks.inner;
  const planes = masks.planes.map((packed) => unpack(packed, height * width));
  const labels = winners(planes, height * width);
  const colors = [[0, 0, 0], ...masks.ids.map((id) => rgbOf(objects.find((o) => o.id === id)?.color ?? '#ffffff'))];
  const image = new ImageData(width, height);
  const pixels = image.data;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const label = labels[i];
      if (!label) continue;
      const edge =
        (x > 0 && labels[i - 1] !== label) ||
        (x + 1 < width && labels[i + 1] !== label) ||
        (y > 0 && labels[i - width] !== label) ||
        (y + 1 < height && labels[i + width] !== label);
      const [r, g, b] = colors[label];
      pixels[4 * i] = r;
      pixels[4 * i + 1] = g;
      pixels[4 * i + 2] = b;
      pixels[4 * i + 3] = 255 * (edge ? OUTLINE : FILL);
    }
  }
  return image;
}

/** White where objects are, transparent elsewhere, soft between. */
export function matte(masks: FrameMasks): ImageData {
  const { height, width } = masks.inner;
  const image = new ImageData(width, height);
  const pixels = image.data.fill(255);
  for (let i = 3; i < pixels.length; i += 4) pixels[i] = 0;
  for (const packed of masks.planes) {
    const plane = unpack(packed, height * width);
    for (let i = 0; i < plane.length; i++) pixels[4 * i + 3] += plane[i]; // clamps by itself
  }
  return image;
}
