/** Frames of a file, decoded by WebCodecs. */
import {
  AudioSampleSink,
  BlobSource,
  EncodedPacketSink,
  Input,
  MATROSKA,
  MP4,
  QTFF,
  VideoSampleSink,
  WEBM,
  type InputVideoTrack,
  type VideoSample,
} from 'mediabunny';
import { FrameCache } from './cache';
import { VideoError, type SoundSource, type VideoSource } from './source';

/**
 * Null where this browser cannot decode the file with WebCodecs; the <video> element may still play it. `held`: how many
 * frames are kept, where it is not as many as there is room for.
 */
export async function openDecoded(file: Blob, name: string, held?: number): Promise<VideoSource | null> {
  if (typeof VideoDecoder === 'undefined') return null;
  const input = new Input({ source: new BlobSource(file), formats: [MP4, QTFF, WEBM, MATROSKA] });
  let track: InputVideoTrack | null;
  let tracks: number;
  try {
    track = await input.getPrimaryVideoTrack();
    tracks = (await input.getTracks()).length;
  } catch {
    return null; // not a container it knows
  }
  if (!tracks) throw new VideoError(cutOff(name)); // what says where the pictures are stands at the end of many files
  if (!track) throw new VideoError(`There is no picture in “${name}”, only sound.`);
  if (!(await track.canDecode())) return null;
  const times = await frameTimes(track);
  if (!times.timestamps.length) throw new VideoError(cutOff(name));
  const all = times.promised;
  const there = times.timestamps.length;
  const trouble = there < all ? `“${name}” was cut off: ${there} of its ${all} frames are there.` : null;
  const [width, height] = [await track.getDisplayWidth(), await track.getDisplayHeight()];
  const sound = await soundOf(input);
  const cache = new FrameCache(width, height, held);
  const { timestamps, durations, keys } = times;
  return new DecodedVideo(file, name, width, height, timestamps, durations, trouble, sound, keys, track, cache);
}

/** The sound of a file; a file whose sound cannot be read is one without. */
async function soundOf(input: Input): Promise<SoundSource | null> {
  try {
    const track = await input.getPrimaryAudioTrack();
    if (!track || typeof AudioDecoder === 'undefined' || !(await track.canDecode())) return null;
    const [channels, rate] = [await track.getNumberOfChannels(), await track.getSampleRate()];
    return { channels, rate, samples: (from, to) => new AudioSampleSink(track).samples(from, to) };
  } catch {
    return null;
  }
}

interface Times {
  timestamps: number[];
  durations: number[];
  /** For each frame, the frame that decoding has to start from. */
  keys: number[];
  /** How many frames the file says that it has. */
  promised: number;
}

function cutOff(name: string): string {
  return `“${name}” is incomplete: its end is missing, as after a download or a recording that broke off. Get the whole file and try again.`;
}

interface Packet {
  time: number;
  duration: number;
  key: boolean;
}

async function frameTimes(track: InputVideoTrack): Promise<Times> {
  const sink = new EncodedPacketSink(track);
  const promised: Packet[] = [];
  for await (const packet of sink.packets(undefined, undefined, { metadataOnly: true })) {
    promised.push({ time: packet.timestamp, duration: packet.duration, key: packet.type === 'key' });
  }
  const packets = promised.slice(0, await readable(sink, promised));
  packets.sort((a, b) => a.time - b.time); // decode order to the order of showing
  const timestamps = packets.map((p) => p.time);
  const usual = packets.map((p) => p.duration).sort((a, b) => a - b)[packets.length >> 1] || 1 / 30;
  const durations = packets.map((p, i) =>
    i + 1 < packets.length ? packets[i + 1].time - p.time : p.duration || usual,
  );
  let key = 0;
  const keys = packets.map((p, i) => (p.key ? (key = i) : key));
  return { timestamps, durations, keys, promised: promised.length };
}

/** How many of the packets, in the order of the file, are really in it: all, but where it was cut off. */
async function readable(sink: EncodedPacketSink, packets: readonly Packet[]): Promise<number> {
  const has = async (at: number) => (await sink.getPacket(packets[at].time).catch(() => null)) !== null;
  if (!packets.length || (await has(packets.length - 1))) return packets.length;
  let [there, missing] = [0, packets.length - 1]; // so many are there; this one is not
  while (there < missing) {
    const middle = (there + missing) >> 1;
    if (await has(middle)) there = middle + 1;
    else missing = middle;
  }
  return there;
}

class DecodedVideo implements VideoSource {
  readonly pageOnly = false;
  private readonly sink: VideoSampleSink;
  private readonly canvas: OffscreenCanvasRenderingContext2D;
  private ahead: { next: number; samples: AsyncGenerator<VideoSample, void, unknown> } | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly file: Blob,
    readonly name: string,
    readonly width: number,
    readonly height: number,
    readonly timestamps: number[],
    readonly durations: number[],
    readonly trouble: string | null,
    readonly sound: SoundSource | null,
    private readonly keys: number[],
    private readonly track: InputVideoTrack,
    private readonly cache: FrameCache,
  ) {
    this.sink = new VideoSampleSink(track);
    this.canvas = new OffscreenCanvas(width, height).getContext('2d', { alpha: false })!;
  }

  frame(index: number): Promise<ImageBitmap> {
    const wanted = this.queue.then(() => this.cache.get(index) ?? this.decoded(index));
    this.queue = wanted.catch(() => undefined); // one decoder: requests take turns
    return wanted;
  }

  /** With a decoder of its own, so that nobody waits for it; in long videos from key frames only, which is quick. */
  async *overview(count: number, height: number): AsyncGenerator<ImageBitmap> {
    const last = this.timestamps.length;
    const wanted = Array.from({ length: count }, (_, i) => Math.min(last - 1, Math.floor(((i + 0.5) * last) / count)));
    const times = wanted.map((i) => this.timestamps[last > 600 ? this.keys[i] : i]);
    for await (const sample of new VideoSampleSink(this.track).samplesAtTimestamps(times)) {
      if (!sample) continue;
      const canvas = new OffscreenCanvas(Math.max(1, Math.round((height * this.width) / this.height)), height);
      sample.draw(canvas.getContext('2d')!, 0, 0, canvas.width, canvas.height);
      sample.close();
      yield canvas.transferToImageBitmap();
    }
  }

  close(): void {
    void this.ahead?.samples.return();
    this.cache.clear();
  }

  /** A decoder that fails once, taken away by the system or over a bad packet, is replaced and asked again. */
  private async decoded(index: number): Promise<ImageBitmap> {
    try {
      return await this.decode(index);
    } catch {
      this.ahead = undefined;
    }
    try {
      return await this.decode(index);
    } catch (error) {
      this.ahead = undefined;
      throw error;
    }
  }

  private async decode(index: number): Promise<ImageBitmap> {
    if (!this.ahead || this.ahead.next > index || this.ahead.next < this.keys[index]) {
      void this.ahead?.samples.return();
      // Whoever goes backwards asks for the frames before next: decode them on the way, as many as are kept.
      const from = Math.max(this.keys[index], index - Math.min(this.cache.room, 48) + 1);
      this.ahead = { next: from, samples: this.sink.samples(this.timestamps[from]) };
    }
    for (;;) {
      const at = this.ahead.next;
      const { value: sample, done } = await this.ahead.samples.next();
      if (done || !sample) throw new VideoError(`Frame ${index + 1} of “${this.name}” cannot be decoded.`);
      this.ahead.next++;
      const bitmap = await this.picture(sample);
      this.cache.put(at, bitmap);
      if (at === index) return bitmap;
    }
  }

  private async picture(sample: VideoSample): Promise<ImageBitmap> {
    this.canvas.clearRect(0, 0, this.width, this.height); // black, under what is transparent
    sample.draw(this.canvas, 0, 0, this.width, this.height); // upright
    sample.close();
    return createImageBitmap(this.canvas.canvas);
  }
}
