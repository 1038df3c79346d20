/** A video and the masks of its objects, as the exports read it. */
import type { AudioSample } from 'mediabunny';
import { rasterOfAll, type Raster, type Size } from '../tracking/geometry';
import { resample, unpack, winners, type Packed } from '../tracking/planes';
import type { SoundSource, VideoSource } from '../video/source';
import { cleaned, matte, type Edges } from './edges';
import type { TrackedVideo } from './types';

/** The objects in one frame. */
export interface Masks {
  ids: readonly number[];
  planes: readonly Packed[];
  /** Of the planes. */
  raster: Raster;
  /** The objects that a person has drawn here: what they see is what they get. */
  drawn: ReadonlySet<number>;
}

/** Frames from `first` to `last`, both included. */
export interface Range {
  first: number;
  last: number;
}

/** What the exports need of a video: all of it, or only what the page has. */
export type Pictures = Pick<VideoSource, 'width' | 'height' | 'timestamps' | 'durations' | 'sound'> & {
  frame(index: number): Promise<CanvasImageSource>;
};

export function trackedVideo(
  source: Pictures,
  masksOf: (index: number) => Promise<Masks | undefined>,
  { first, last }: Range,
  edges: Edges,
  names: string[],
): TrackedVideo {
  const { width, height } = source;
  const begin = source.timestamps[first];
  const end = source.timestamps[last] + source.durations[last];
  const labels = async (i: number) => labelsOf(await masksOf(first + i), source, source, edges);
  return {
    width,
    height,
    first,
    timestamps: source.timestamps.slice(first, last + 1),
    durations: source.durations.slice(first, last + 1),
    frame: (i) => source.frame(first + i),
    labels,
    alpha: async (i) => matte(await labels(i), { height, width }, edges.feather),
    sound: source.sound && {
      channels: source.sound.channels,
      rate: source.sound.rate,
      samples: () => heard(source.sound!, begin, end),
    },
    names,
  };
}

/** The object of each pixel of a picture of a frame, which may be smaller than that; `edges` are in its pixels. */
export function labelsOf(masks: Masks | undefined, frame: Size, picture: Size, edges: Edges): Uint8Array {
  const count = picture.height * picture.width;
  if (!masks?.planes.length) return new Uint8Array(count);
  const { raster } = masks;
  const all = rasterOfAll(picture, frame);
  const planes = masks.planes.map((packed) => resample(unpack(packed, raster.height * raster.width), raster, all));
  const found = winners(planes, count);
  const names = [0, ...masks.ids];
  for (let i = 0; i < found.length; i++) found[i] = names[found[i]];
  return cleaned(found, picture, edges, masks.drawn.size > 0);
}

/** What is heard from a time on, as if that were 0. A sample that began before it is left out: it is 20 ms or so. */
async function* heard(sound: SoundSource, begin: number, end: number): AsyncGenerator<AudioSample> {
  for await (const sample of sound.samples(begin, end)) {
    if (sample.timestamp < begin) {
      sample.close();
      continue;
    }
    sample.setTimestamp(sample.timestamp - begin);
    yield sample;
  }
}
