/** Which format is written how. */
import { writeCoco } from './coco';
import { writeMp4, writeWebm } from './film';
import { FORMATS, type FormatName } from './formats';
import { writeMasks, writePictures } from './pictures';
import type { Sink } from './sink';
import { writeStill } from './still';
import type { Look, Progress, TrackedVideo } from './types';

export async function write(
  format: FormatName,
  video: TrackedVideo,
  chosen: Look,
  sink: Sink,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const look = FORMATS[format].look(chosen);
  if (format === 'masks') return writeMasks(video, sink, progress, signal);
  if (format === 'coco' || !look) return writeCoco(video, sink, progress, signal);
  if (format === 'still') return writeStill(video, 0, look, sink);
  if (format === 'pictures') return writePictures(video, look, sink, progress, signal);
  const film = format === 'mp4' || format === 'green' ? writeMp4 : writeWebm;
  return film(video, look, sink, progress, signal);
}
