/** The session as the exports read it. */
import type { TrackedVideo } from '../export/types';
import type { Session } from './session';

export function trackedVideo(session: Session): TrackedVideo {
  const { source, network, state } = session;
  const { width, height } = source;
  const expand = (i: number, what: 'labels' | 'alpha') => {
    const masks = state.frames.get(i);
    if (!masks) return Promise.resolve(new Uint8Array(width * height));
    return network.expand(masks.planes, masks.ids, masks.raster, source, what);
  };
  const most = state.objects.reduce((id, object) => Math.max(id, object.id), 0);
  return {
    width,
    height,
    timestamps: source.timestamps,
    durations: source.durations,
    frame: (i) => source.frame(i),
    labels: (i) => expand(i, 'labels'),
    alpha: (i) => expand(i, 'alpha'),
    names: Array.from({ length: most }, (_, i) => state.objects.find((o) => o.id === i + 1)?.name ?? `Object ${i + 1}`),
  };
}
