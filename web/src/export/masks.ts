import { checkedPlane, eachFrame, frameName } from './frames';
import { davisPalette } from './palette';
import { indexedPng } from './png';
import type { Progress, TrackedVideo } from './types';
import { ZipWriter } from './zip';

/** A zip of one palette PNG a frame, 00000.png and on: the ids exactly, in the colours of DAVIS. */
export async function exportMasksZip(video: TrackedVideo, onProgress: Progress, signal: AbortSignal): Promise<Blob> {
  const zip = new ZipWriter();
  const palette = davisPalette();
  await eachFrame(video, onProgress, signal, async (i) => {
    const ids = checkedPlane(video, await video.labels(i), 'labels');
    zip.add(`${frameName(i)}.png`, await indexedPng(ids, video.width, video.height, palette));
  });
  return zip.finish();
}
