/** Videos of what was followed, with the sound of the source. */
import {
  AudioSampleSource,
  Mp4OutputFormat,
  Output,
  Quality,
  StreamTarget,
  VideoSample,
  VideoSampleSource,
  WebMOutputFormat,
  canEncodeAudio,
  canEncodeVideo,
  type AudioCodec,
  type VideoCodec,
} from 'mediabunny';
import { Composer } from './compose';
import { frameNumbers } from './frames';
import { type Timing, millisecondTiming } from './timing';
import type { Look, Sound, TrackedVideo, Writing } from './types';

interface Container {
  name: string;
  video: VideoCodec;
  /** Of these the first that the browser can write. */
  sound: readonly AudioCodec[];
  make(): WebMOutputFormat | Mp4OutputFormat;
  timing(timestamps: number[], durations: number[]): Timing[];
}

const WEBM: Container = {
  name: 'VP9',
  video: 'vp9',
  sound: ['opus'],
  make: () => new WebMOutputFormat(),
  timing: millisecondTiming,
};

const MP4: Container = {
  name: 'H.264',
  video: 'avc',
  sound: ['aac', 'opus'], // Firefox, and Chromium on Linux, have no encoder for AAC
  make: () => new Mp4OutputFormat({ fastStart: 'reserve' }),
  timing: (timestamps, durations) => timestamps.map((timestamp, i) => ({ timestamp, duration: durations[i]! })),
};

/** Samples of sound in a packet, at least: what mediabunny says to reckon with. */
const PACKET = 512;

/**
 * What is made of the frames as VP9 in WebM; where something is transparent, with a second picture of the matte beside
 * each frame, as browsers and editors read transparency. One frame for each of the video's, at its time.
 */
export function writeWebm(writing: Writing, look: Look): Promise<void> {
  return film(writing, look, WEBM);
}

/** The same as H.264 in MP4, which everything plays, and which knows no transparency. */
export function writeMp4(writing: Writing, look: Look): Promise<void> {
  // What is transparent is black, which H.264 would make of it anyway.
  const solid: Look = look.background.kind === 'transparent' ? { ...look, background: BLACK } : look;
  return film(writing, solid, MP4);
}

const BLACK = { kind: 'color', color: '#000' } as const;

async function film(writing: Writing, look: Look, container: Container): Promise<void> {
  const { video, sink, signal } = writing;
  signal.throwIfAborted();
  const transparent = look.background.kind === 'transparent';
  const quality = new Quality('high');
  await checkEncoder(video, container, quality);
  const output = new Output({ format: container.make(), target: new StreamTarget(sink.stream(), { chunked: true }) });
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
  output.addVideoTrack(source, { maximumPacketCount: video.timestamps.length });
  const sound = await soundTrack(video.sound, container.sound);
  if (sound) output.addAudioTrack(sound, { maximumPacketCount: soundPackets(video) });
  try {
    await output.start();
    const begin = video.timestamps[0]!; // sound begins there, too
    const timing = container.timing(
      video.timestamps.map((time) => time - begin),
      video.durations,
    );
    const composer = new Composer(video, look);
    const pictures = async () => {
      for await (const i of frameNumbers(writing)) {
        const sample = await sampleOf(composer, video, i, transparent, timing[i]!);
        try {
          await source.add(sample);
        } finally {
          sample.close();
        }
      }
      source.close();
    };
    const heard = sound ? copySound(video.sound!, sound, signal) : Promise.resolve();
    heard.catch(() => undefined); // told below, after the pictures have stopped
    await pictures();
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
}

/** At most so many packets of sound; room for them is left at the beginning of a file. */
function soundPackets({ sound, timestamps, durations }: TrackedVideo): number {
  const seconds = timestamps.at(-1)! + durations.at(-1)! - timestamps[0]!;
  return Math.ceil((1.34 * seconds * sound!.rate) / Math.min(PACKET, sound!.rate / 100)) + 64;
}

/** Null where there is no sound, or none that this browser can write. */
async function soundTrack(sound: Sound | null, codecs: readonly AudioCodec[]): Promise<AudioSampleSource | null> {
  if (!sound || typeof AudioEncoder === 'undefined') return null;
  const { channels, rate } = sound;
  const quality = new Quality('high');
  for (const codec of codecs) {
    if (await canEncodeAudio(codec, { numberOfChannels: channels, sampleRate: rate, quality })) {
      return new AudioSampleSource({ codec, quality });
    }
  }
  return null;
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

async function sampleOf(
  composer: Composer,
  video: TrackedVideo,
  i: number,
  transparent: boolean,
  timing: Timing,
): Promise<VideoSample> {
  const [frame, alpha] = [await video.frame(i), await video.alpha(i)];
  if (!transparent) return new VideoSample(composer.picture(frame, alpha), timing);
  // Straight from the pixels: a canvas would multiply the colours by the matte, and lose them at soft edges.
  const { data, width, height } = composer.cutout(frame, alpha);
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
