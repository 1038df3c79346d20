import { Composer } from './compose';
import type { Background, TrackedVideo } from './types';

/** Frame i's objects over the background, or over nothing, as a PNG. */
export async function exportStill(video: TrackedVideo, i: number, background: Background): Promise<Blob> {
  const canvas = await new Composer(video, background).picture(i);
  return canvas.convertToBlob({ type: 'image/png' });
}
