import type { Bytes } from './bytes';

/**
 * The colours of mask files, 256 x RGB: those of PASCAL VOC and DAVIS. Bits 0, 3, 6 of the id go to red, 1, 4, 7 to
 * green, 2, 5 to blue, each channel filled from its highest bit down: 1 is (128, 0, 0), 2 is (0, 128, 0).
 */
export function davisPalette(): Bytes {
  const palette = new Uint8Array(256 * 3);
  for (let id = 0; id < 256; id++) {
    for (let bit = 0; bit < 8; bit++) {
      if ((id >> bit) & 1) palette[3 * id + (bit % 3)]! |= 128 >> Math.floor(bit / 3);
    }
  }
  return palette;
}
