/** Zips of a picture a frame. */
import { makeZip } from 'client-zip';
import type { Bytes } from './bytes';
import { Composer } from './compose';
import { checkedPlane, frameName, frameNumbers } from './frames';
import { davisPalette } from './palette';
import { indexedPng } from './png';
import type { Look, Writing } from './types';

/** The time of every file in a zip, so that the same masks make the same zip. */
const LONG_AGO = new Date(1980, 0, 1);

/** Palette PNGs, 00000.png and on: the ids exactly, in the colours of DAVIS. */
export async function writeMasks(writing: Writing): Promise<void> {
  const { video } = writing;
  const palette = davisPalette();
  await writeZip(writing, async (i) => {
    const ids = checkedPlane(video, await video.labels(i), 'labels');
    return indexedPng(ids, video.width, video.height, palette);
  });
}

/** What is made of each frame as a PNG, with transparency where there is any. */
export async function writePictures(writing: Writing, look: Look): Promise<void> {
  const { video } = writing;
  const composer = new Composer(video, look);
  await writeZip(writing, async (i) => {
    const canvas = composer.picture(await video.frame(i), await video.alpha(i));
    const png = await canvas.convertToBlob({ type: 'image/png' });
    return new Uint8Array(await png.arrayBuffer());
  });
}

async function writeZip(writing: Writing, picture: (i: number) => Promise<Bytes>): Promise<void> {
  const { video, sink } = writing;
  async function* files() {
    for await (const i of frameNumbers(writing)) {
      yield { name: `${frameName(video.first + i)}.png`, lastModified: LONG_AGO, input: await picture(i) };
    }
  }
  await sink.pipe(makeZip(files()));
}
