export type Surface = OffscreenCanvasRenderingContext2D;

/** A canvas to draw on and read from, off the page. */
export function surface(width: number, height: number): Surface {
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error(`This browser has no memory left for a picture of ${width} x ${height} pixels.`);
  context.imageSmoothingQuality = 'high';
  return context;
}
