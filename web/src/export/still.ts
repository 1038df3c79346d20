import { Composer } from './compose';
import type { Sink } from './sink';
import type { Look, TrackedVideo } from './types';

/** Frame i as a PNG. */
export async function writeStill(video: TrackedVideo, i: number, look: Look, sink: Sink): Promise<void> {
  const canvas = new Composer(video, look).picture(await video.frame(i), await video.alpha(i));
  const png = await canvas.convertToBlob({ type: 'image/png' });
  await sink.append(new Uint8Array(await png.arrayBuffer()));
}
