/** Masks as pictures, to be drawn over the part of the frame that they are of. */
import { rgbOf } from '../editor/colors';
import type { FrameMasks, TrackedObject } from '../editor/state';
import { cleaned, scaledEdges, type Edges } from '../export/edges';
import type { Size } from '../tracking/geometry';
import { unpack, winners } from '../tracking/planes';

const FILL = 0.42;
const OUTLINE = 0.95;
/** Outlines are as thick as one of so many cells along the frame's long side, however close the window was. */
const FINEST = 560;

/** Objects tinted in their colours, with outlines, their edges as they will be exported. */
export function tinted(masks: FrameMasks, objects: readonly TrackedObject[], frame: Size, edges: Edges): ImageData {
  const { height, width, box } = masks.raster;
  const cells = (Math.max(frame.height, frame.width) * width) / box.width;
  const thick = Math.max(1, Math.round(cells / FINEST));
  const planes = masks.planes.map((packed) => unpack(packed, height * width));
  const found = winners(planes, height * width);
  const labels = cleaned(found, { height, width }, scaledEdges(edges, width / box.width), masks.drawn.size > 0);
  const colors = [[0, 0, 0], ...masks.ids.map((id) => rgbOf(objects.find((o) => o.id === id)?.color ?? '#ffffff'))];
  const image = new ImageData(width, height);
  const pixels = image.data;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const label = labels[i];
      if (!label) continue;
      const edge =
        (x >= thick && labels[i - thick] !== label) ||
        (x + thick < width && labels[i + thick] !== label) ||
        (y >= thick && labels[i - thick * width] !== label) ||
        (y + thick < height && labels[i + thick * width] !== label);
      const [r, g, b] = colors[label];
      pixels[4 * i] = r;
      pixels[4 * i + 1] = g;
      pixels[4 * i + 2] = b;
      pixels[4 * i + 3] = 255 * (edge ? OUTLINE : FILL);
    }
  }
  return image;
}

/** What a tap would find: a bright veil with a white edge, in no object's colour. */
export function ghost(plane: Uint8Array, { height, width }: Size): ImageData {
  const image = new ImageData(width, height);
  const inside = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && plane[y * width + x] > 127;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (plane[i] <= 127) continue;
      const edge = !(inside(x - 2, y) && inside(x + 2, y) && inside(x, y - 2) && inside(x, y + 2));
      image.data.set([255, 255, 255, edge ? 235 : 70], 4 * i);
    }
  }
  return image;
}
