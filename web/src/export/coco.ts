import { checkedPlane, frameName, frameNumbers } from './frames';
import { compressed, regions } from './rle';
import type { Writing } from './types';

/**
 * One COCO JSON: an image a frame, an annotation an object in it, with a compressed run-length code; the same form as
 * `mobilevos segment --format coco` writes. Objects that are never seen get no category. What is long comes first, so
 * that it need not be held until the end.
 */
export async function writeCoco(writing: Writing): Promise<void> {
  const { video, sink } = writing;
  const { width, height } = video;
  const images: string[] = [];
  const seen = new Set<number>();
  let count = 0;
  await sink.append('{"annotations": [');
  for await (const i of frameNumbers(writing)) {
    const labels = checkedPlane(video, await video.labels(i), 'labels');
    const time = video.timestamps[i]!;
    const index = video.first + i;
    images.push(JSON.stringify({ id: i + 1, file_name: frameName(index), width, height, frame_index: index, time }));
    const found = regions(labels, width, height).map(({ id, counts, area, bbox }) => {
      seen.add(id);
      const segmentation = { size: [height, width], counts: compressed(counts) };
      const ids = { id: ++count, image_id: i + 1, category_id: id, track_id: id };
      return `${count > 1 ? ',' : ''}\n${JSON.stringify({ ...ids, segmentation, area, bbox, iscrowd: 0 })}`;
    });
    if (found.length) await sink.append(found.join(''));
  }
  const categories = [...seen].sort((a, b) => a - b).map((id) => ({ id, name: video.names[id - 1] ?? `object ${id}` }));
  await sink.append(`],\n"images": [\n${images.join(',\n')}],\n"categories": ${JSON.stringify(categories)}}\n`);
}
