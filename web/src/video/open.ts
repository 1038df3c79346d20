import { openDecoded } from './decoded';
import { openElement } from './element';
import { VideoError, type VideoSource } from './source';

/** A video of a file, by whatever way this browser can read it. */
export async function openVideo(file: Blob, name: string): Promise<VideoSource> {
  if (!file.size) throw new VideoError(`“${name}” is empty.`);
  if (file.type.startsWith('image/')) throw new VideoError(`“${name}” is a picture. Please choose a video.`);
  return (await openDecoded(file, name)) ?? (await openElement(file, name));
}
