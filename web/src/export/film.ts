/** Videos of what was followed, with the sound of the source. */
import {
  AudioSampleSource,
  BufferTarget,
  Mp4OutputFormat,
  Output,
  Quality,
  VideoSample,
  VideoSampleSource,
  WebMOutputFormat,
  canEncodeAudio,
  canEncodeVideo,
  type AudioCodec,
  type VideoCodec,
} from 'mediabunny';
import { Composer } from './compose';
import { eachFrame } from './frames';
import { type Timing, millisecondTiming } from './timing';
import type { Background, Progress, Sound, TrackedVideo } from './types';

interface Container {
  name: string;
  video: VideoCodec;
  sound: AudioCodec;
  type: string;
  make(): WebMOutputFormat | Mp4OutputFormat;
  timing(timestamps: number[], durations: number[]): Timing[];
}

const WEBM: Container = {
  name: 'VP9',
  video: 'vp9',
  sound: 'opus',
  type: 'video/webm',
  make: () => new WebMOutputFormat(),
  timing: millisecondTiming,
};

const MP4: Container = {
  name: 'H.264',
  video: 'avc',
  sound: 'aac',
  type: 'video/mp4',
  make: () => new Mp4OutputFormat({ fastStart: 'in-memory' }),
  timing: (timestamps, durations) =>
    timestamps.map((time, i) => ({ timestamp: time - timestamps[0]!, duration: durations[i]! })),
};

/**
 * The objects over the background as VP9 in WebM; over nothing, with a second picture of the matte beside each frame,
 * as browsers and editors read transparency. One frame for each of the video's, at its time.
 */
export function exportWebm(
  video: TrackedVideo,
  background: Background,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<Blob> {
  return film(video, background, WEBM, onProgress, signal);
}

/** The same as H.264 in MP4, which everything plays, and which knows no transparency. */
export function exportMp4(
  video: TrackedVideo,
  background: Background,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<Blob> {
  // What is transparent is black, which H.264 would make of it anyway.
  const solid: Background = background.kind === 'transparent' ? { kind: 'color', color: '#000' } : background;
  return film(video, solid, MP4, onProgress, signal);
}

async function film(
  video: TrackedVideo,
  background: Background,
  container: Container,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<Blob> {
  signal.throwIfAborted();
  const transparent = background.kind === 'transparent';
  const quality = new Quality('high');
  await checkEncoder(video, container, quality);
  const target = new BufferTarget();
  const output = new Output({ format: container.make(), target });
  let written = 0;
  const source = new VideoSampleSource({
    codec: container.video,
    quality,
    latencyMode: 'quality', // the other mode may drop frames
    alpha: transparent ? 'keep' : 'discard',
    onEncodedPacket: (packet) => {
      written += !transparent || packet.sideData.alpha ? 1 : 0;
    },
  });
  output.addVideoTrack(source);
  const sound = await soundTrack(video.sound, container.sound);
  if (sound) output.addAudioTrack(sound);
  try {
    await output.start();
    const timing = container.timing(video.timestamps, video.durations);
    const composer = new Composer(video, background);
    const pictures = eachFrame(video, onProgress, signal, async (i) => {
      const sample = await sampleOf(composer, i, transparent, timing[i]!);
      try {
        await source.add(sample);
      } finally {
        sample.close();
      }
    }).then(() => source.close());
    const heard = sound ? copySound(video.sound!, sound, signal) : Promise.resolve();
    heard.catch(() => undefined); // told below, after the pictures have stopped
    await pictures;
    await heard;
    await output.finalize();
    signal.throwIfAborted();
  } catch (error) {
    if (output.state === 'started') await output.cancel();
    throw error;
  }
  if (written !== video.timestamps.length) {
    throw new Error(`The browser's encoder returned ${written} of ${video.timestamps.length} frames whole; try again.`);
  }
  return new Blob([target.buffer!], { type: container.type });
}

/** Null where there is no sound, or none that this browser can write. */
async function soundTrack(sound: Sound | null, codec: AudioCodec): Promise<AudioSampleSource | null> {
  if (!sound || typeof AudioEncoder === 'undefined') return null;
  const { channels, rate } = sound;
  const quality = new Quality('high');
  if (!(await canEncodeAudio(codec, { numberOfChannels: channels, sampleRate: rate, quality }))) return null;
  return new AudioSampleSource({ codec, quality });
}

async function copySound(sound: Sound, track: AudioSampleSource, signal: AbortSignal): Promise<void> {
  for await (const sample of sound.samples()) {
    try {
      signal.throwIfAborted();
      await track.add(sample);
    } finally {
      sample.close();
    }
  }
  track.close();
}

async function sampleOf(composer: Composer, i: number, transparent: boolean, timing: Timing): Promise<VideoSample> {
  if (!transparent) return new VideoSample(await composer.picture(i), timing);
  // Straight from the pixels: a canvas would multiply the colours by the matte, and lose them at soft edges.
  const { data, width, height } = await composer.cutout(i);
  return new VideoSample(data, { format: 'RGBA', codedWidth: width, codedHeight: height, ...timing });
}

async function checkEncoder({ width, height }: TrackedVideo, container: Container, quality: Quality): Promise<void> {
  if (typeof VideoEncoder === 'undefined') {
    throw new Error('This browser cannot write videos. Take the masks or a still, or use a current Chrome or Edge.');
  }
  if (!(await canEncodeVideo(container.video, { width, height, quality, latencyMode: 'quality' }))) {
    throw new Error(
      `This browser cannot write ${container.name} video of ${width} x ${height} pixels. ` +
        'Take another format, or use a current Chrome or Edge.',
    );
  }
}
