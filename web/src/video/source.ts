import type { AudioSample } from 'mediabunny';

/** The sound of a video. */
export interface SoundSource {
  readonly channels: number;
  /** Samples a second. */
  readonly rate: number;
  /** What is heard between two times of the video; each is for whoever takes it to close. */
  samples(from: number, to: number): AsyncGenerator<AudioSample>;
}

/** A video as the app sees it: numbered frames with exact times. */
export interface VideoSource {
  readonly name: string;
  /** What it was read from. */
  readonly file: Blob;
  /** Whether only a page can read it, and no worker. */
  readonly pageOnly: boolean;
  /** Upright, in square pixels. */
  readonly width: number;
  readonly height: number;
  /** Seconds, one per frame, rising. */
  readonly timestamps: number[];
  readonly durations: number[];
  /** What is wrong with the file, although it can be worked with; null in most cases. */
  readonly trouble: string | null;
  /** Null where there is none that can be read. */
  readonly sound: SoundSource | null;
  /** The picture belongs to the source: draw it at once, do not keep or close it. */
  frame(index: number): Promise<ImageBitmap>;
  /** `count` small pictures evenly along the video, for whoever takes them to close. */
  overview(count: number, height: number): AsyncGenerator<ImageBitmap>;
  close(): void;
}

/** Something about a video that people should be told, in a sentence. */
export class VideoError extends Error {}

/** What a person should know before working on a video: nothing in most cases. */
export function warningOf({ width, height, timestamps, trouble }: VideoSource): string | null {
  if (trouble) return trouble;
  if (Math.max(width, height) > 4096) {
    return `This video is very large (${width} x ${height}). It works, but slowly.`;
  }
  if (timestamps.length > 5400) {
    return `This video is long (${timestamps.length} frames). Following it all takes a while; a shorter cut is quicker.`;
  }
  return null;
}
