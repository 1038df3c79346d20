import { checkedPlane, eachFrame, frameName } from './frames';
import { compressed, regions } from './rle';
import type { Progress, TrackedVideo } from './types';

/**
 * One COCO JSON: an image a frame, an annotation an object in it, with a compressed run-length code; the same form as
 * `mobilevos segment --format coco` writes. Objects that are never seen get no category.
 */
export async function exportCoco(video: TrackedVideo, onProgress: Progress, signal: AbortSignal): Promise<Blob> {
  const { width, height } = video;
  const images: string[] = [];
  const annotations: string[] = [];
  const seen = new Set<number>();
  await eachFrame(video, onProgress, signal, async (i) => {
    const labels = checkedPlane(video, await video.labels(i), 'labels');
    const time = video.timestamps[i]!;
    images.push(JSON.stringify({ id: i + 1, file_name: frameName(i), width, height, frame_index: i, time }));
    for (const { id, counts, area, bbox } of regions(labels, width, height)) {
      seen.add(id);
      annotations.push(
        JSON.stringify({
          id: annotations.length + 1,
          image_id: i + 1,
          category_id: id,
          track_id: id,
          segmentation: { size: [height, width], counts: compressed(counts) },
          area,
          bbox,
          iscrowd: 0,
        }),
      );
    }
  });
  const categories = [...seen].sort((a, b) => a - b).map((id) => ({ id, name: video.names[id - 1] ?? `object ${id}` }));
  const text = [
    `{"categories": ${JSON.stringify(categories)},\n"images": [\n`,
    images.join(',\n'),
    '],\n"annotations": [\n',
    annotations.join(',\n'),
    ']}\n',
  ];
  return new Blob(text, { type: 'application/json' });
}
