/**
 * Frames of a file that only the browser's player can read.
 *
 * A player tells no frame times, so the video is taken at a steady rate.
 */
import { FrameCache } from './cache';
import { overview } from './overview';
import { VideoError, type VideoSource } from './source';

const RATE = 30;

export async function openElement(file: Blob, name: string): Promise<VideoSource> {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.preload = 'auto';
  video.src = URL.createObjectURL(file);
  try {
    await new Promise<void>((resolve, reject) => {
      video.onloadeddata = () => resolve();
      video.onerror = () => reject(new VideoError(unreadable(name)));
    });
    if (!video.videoWidth || !Number.isFinite(video.duration)) throw new VideoError(unreadable(name));
  } catch (error) {
    URL.revokeObjectURL(video.src);
    throw error;
  }
  return new ElementVideo(file, name, video);
}

function unreadable(name: string): string {
  return `This browser cannot read “${name}”. MP4 (H.264) and WebM (VP8, VP9, AV1) work nearly everywhere; another browser may know this one.`;
}

class ElementVideo implements VideoSource {
  readonly pageOnly = true;
  readonly width: number;
  readonly height: number;
  readonly timestamps: number[];
  readonly durations: number[];
  readonly trouble = null;
  readonly sound = null; // the element plays it and hands nothing out
  private readonly cache: FrameCache;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly file: Blob,
    readonly name: string,
    private readonly video: HTMLVideoElement,
  ) {
    [this.width, this.height] = [video.videoWidth, video.videoHeight];
    const count = Math.max(1, Math.round(video.duration * RATE));
    this.timestamps = Array.from({ length: count }, (_, i) => i / RATE);
    this.durations = this.timestamps.map(() => 1 / RATE);
    this.cache = new FrameCache(this.width, this.height);
  }

  frame(index: number): Promise<ImageBitmap> {
    const wanted = this.queue.then(() => this.cache.get(index) ?? this.seek(index));
    this.queue = wanted.catch(() => undefined);
    return wanted;
  }

  overview(count: number, height: number): AsyncGenerator<ImageBitmap> {
    return overview(this, count, height);
  }

  close(): void {
    URL.revokeObjectURL(this.video.src);
    this.video.removeAttribute('src');
    this.cache.clear();
  }

  private async seek(index: number): Promise<ImageBitmap> {
    await new Promise<void>((resolve, reject) => {
      this.video.onseeked = () => resolve();
      this.video.onerror = () => reject(new VideoError(unreadable(this.name)));
      this.video.currentTime = (index + 0.5) / RATE; // the middle of a frame, away from rounding at its edges
    });
    const bitmap = await createImageBitmap(this.video);
    this.cache.put(index, bitmap);
    return bitmap;
  }
}
