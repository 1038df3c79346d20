import {
  BufferTarget,
  Output,
  Quality,
  VideoSample,
  VideoSampleSource,
  WebMOutputFormat,
  canEncodeVideo,
} from 'mediabunny';
import { Composer } from './compose';
import { eachFrame } from './frames';
import { type Timing, millisecondTiming } from './timing';
import type { Background, Progress, TrackedVideo } from './types';

/**
 * The objects over the background as VP9 in WebM; over nothing, with a second picture of the matte beside each frame,
 * as browsers and editors read transparency. One frame for each of the video's, at its time.
 */
export async function exportWebm(
  video: TrackedVideo,
  background: Background,
  onProgress: Progress,
  signal: AbortSignal,
): Promise<Blob> {
  signal.throwIfAborted();
  const transparent = background.kind === 'transparent';
  const quality = new Quality('high');
  await checkEncoder(video, quality);
  const target = new BufferTarget();
  const output = new Output({ format: new WebMOutputFormat(), target });
  let written = 0;
  const source = new VideoSampleSource({
    codec: 'vp9',
    quality,
    latencyMode: 'quality', // the other mode may drop frames
    alpha: transparent ? 'keep' : 'discard',
    onEncodedPacket: (packet) => {
      written += !transparent || packet.sideData.alpha ? 1 : 0;
    },
  });
  output.addVideoTrack(source);
  try {
    await output.start();
    const timing = millisecondTiming(video.timestamps, video.durations);
    const composer = new Composer(video, background);
    await eachFrame(video, onProgress, signal, async (i) => {
      const sample = await sampleOf(composer, i, transparent, timing[i]!);
      try {
        await source.add(sample);
      } finally {
        sample.close();
      }
    });
    await output.finalize();
    signal.throwIfAborted();
  } catch (error) {
    if (output.state === 'started') await output.cancel();
    throw error;
  }
  if (written !== video.timestamps.length) {
    throw new Error(`The browser's encoder returned ${written} of ${video.timestamps.length} frames whole; try again.`);
  }
  return new Blob([target.buffer!], { type: 'video/webm' });
}

async function sampleOf(composer: Composer, i: number, transparent: boolean, timing: Timing): Promise<VideoSample> {
  if (!transparent) return new VideoSample(await composer.picture(i), timing);
  // Straight from the pixels: a canvas would multiply the colours by the matte, and lose them at soft edges.
  const { data, width, height } = await composer.cutout(i);
  return new VideoSample(data, { format: 'RGBA', codedWidth: width, codedHeight: height, ...timing });
}

async function checkEncoder({ width, height }: TrackedVideo, quality: Quality): Promise<void> {
  if (typeof VideoEncoder === 'undefined') {
    throw new Error('This browser cannot write videos. Take the masks or a still, or use a current Chrome or Edge.');
  }
  if (!(await canEncodeVideo('vp9', { width, height, quality, latencyMode: 'quality' }))) {
    throw new Error(
      `This browser cannot write VP9 video of ${width} x ${height} pixels. ` +
        'Take the masks or a still, or use a current Chrome or Edge.',
    );
  }
}
