/** Zips of a picture a frame. */
import { makeZip } from 'client-zip';
import type { Bytes } from './bytes';
import { Composer } from './compose';
import { checkedPlane, frameName, frameNumbers } from './frames';
import { davisPalette } from './palette';
import { indexedPng } from './png';
import type { Sink } from './sink';
import type { Look, Progress, TrackedVideo } from './types';

/** The time of every file in a zip, so that the same masks make the same zip. */
const LONG_AGO = new Date(1980, 0, 1);

/** Palette PNGs, 00000.png and on: the ids exactly, in the colours of DAVIS. */
export async function writeMasks(
  video: TrackedVideo,
  sink: Sink,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const palette = davisPalette();
  await writeZip(video, sink, onProgress, signal, async (i) => {
    const ids = checkedPlane(video, await video.labels(i), 'labels');
    return indexedPng(ids, video.width, video.height, palette);
  });
}

/** What is made of each frame as a PNG, with transparency where there is any. */
export async function writePictures(
  video: TrackedVideo,
  look: Look,
  sink: Sink,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const composer = new Composer(video, look);
  await writeZip(video, sink, onProgress, signal, async (i) => {
    const canvas = composer.picture(await video.frame(i), await video.alpha(i));
    const png = await canvas.convertToBlob({ type: 'image/png' });
    return new Uint8Array(await png.arrayBuffer());
  });
}

async function writeZip(
  video: TrackedVideo,
  sink: Sink,
  onProgress: Progress,
  signal: AbortSignal,
  picture: (i: number) => Promise<Bytes>,
): Promise<void> {
  async function* files() {
    for await (const i of frameNumbers(video, onProgress, signal)) {
      yield { name: `${frameName(video.first + i)}.png`, lastModified: LONG_AGO, input: await picture(i) };
    }
  }
  await sink.pipe(makeZip(files()));
}
