/** The session as the exports read it. */
import type { TrackedVideo } from '../export/types';
import type { SoundSource } from '../video/source';
import type { AudioSample } from 'mediabunny';
import type { Session } from './session';

/** Frames from `first` to `last`, both included. */
export interface Range {
  first: number;
  last: number;
}

/** From the first frame with a mask to the last one, and how many between them have none. */
export function followed(session: Session): Range & { missing: number } {
  const known = [...session.state.frames.keys()].sort((a, b) => a - b);
  const [first, last] = [known[0] ?? 0, known.at(-1) ?? 0];
  return { first, last, missing: known.length ? last - first + 1 - known.length : 0 };
}

export function trackedVideo(session: Session, { first, last }: Range): TrackedVideo {
  const { source, network, state } = session;
  const { width, height } = source;
  const expand = (i: number, what: 'labels' | 'alpha') => {
    const masks = state.frames.get(first + i);
    if (!masks) return Promise.resolve(new Uint8Array(width * height));
    return network.expand(masks.planes, masks.ids, masks.raster, source, what);
  };
  const begin = source.timestamps[first];
  const end = source.timestamps[last] + source.durations[last];
  const most = state.objects.reduce((id, object) => Math.max(id, object.id), 0);
  return {
    width,
    height,
    timestamps: source.timestamps.slice(first, last + 1),
    durations: source.durations.slice(first, last + 1),
    frame: (i) => source.frame(first + i),
    labels: (i) => expand(i, 'labels'),
    alpha: (i) => expand(i, 'alpha'),
    sound: source.sound && {
      channels: source.sound.channels,
      rate: source.sound.rate,
      samples: () => heard(source.sound!, begin, end),
    },
    names: Array.from({ length: most }, (_, i) => state.objects.find((o) => o.id === i + 1)?.name ?? `Object ${i + 1}`),
  };
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
