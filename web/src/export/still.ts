import { Composer } from './compose';
import type { Look, Writing } from './types';

/** Frame i as a PNG. */
export async function writeStill(
  { video, sink }: Pick<Writing, 'video' | 'sink'>,
  i: number,
  look: Look,
): Promise<void> {
  const canvas = new Composer(video, look).picture(await video.frame(i), await video.alpha(i));
  const png = await canvas.convertToBlob({ type: 'image/png' });
  await sink.append(new Uint8Array(await png.arrayBuffer()));
}
