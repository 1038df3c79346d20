/** Which format is written how. */
import { writeCoco } from './coco';
import { writeMp4, writeWebm } from './film';
import { FORMATS, type FormatName } from './formats';
import { writeMasks, writePictures } from './pictures';
import { writeStill } from './still';
import type { Look, Writing } from './types';

export async function write(format: FormatName, writing: Writing, chosen: Look): Promise<void> {
  const look = FORMATS[format].look(chosen);
  if (format === 'masks') return writeMasks(writing);
  if (format === 'coco' || !look) return writeCoco(writing);
  if (format === 'still') return writeStill(writing, 0, look);
  if (format === 'pictures') return writePictures(writing, look);
  const film = format === 'mp4' || format === 'green' ? writeMp4 : writeWebm;
  return film(writing, look);
}
