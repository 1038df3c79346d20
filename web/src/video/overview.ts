/** A few small pictures along a video that can be asked for any frame. */
import type { VideoSource } from './source';

export async function* overview(source: VideoSource, count: number, height: number): AsyncGenerator<ImageBitmap> {
  const last = source.timestamps.length;
  for (let i = 0; i < count; i++) {
    const frame = await source.frame(Math.min(last - 1, Math.floor(((i + 0.5) * last) / count)));
    yield await createImageBitmap(frame, { resizeHeight: height, resizeQuality: 'medium' });
  }
}
