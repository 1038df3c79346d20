// node tests/export/write-labels.mjs FOLDER: masks.zip and coco.json of a clip whose ids are in FOLDER/labels.bin
// (frames x height x width bytes; sizes in FOLDER/clip.json).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imported } from './bundle.mjs';

const folder = process.argv[2];
const { writeCoco, writeMasks, Sink, toMemory } = await imported('parts.ts');
const clip = JSON.parse(readFileSync(join(folder, 'clip.json'), 'utf8'));
const ids = new Uint8Array(readFileSync(join(folder, 'labels.bin')));
const size = clip.width * clip.height;
const video = { ...clip, first: 0, labels: async (i) => ids.subarray(i * size, (i + 1) * size) };
for (const [name, write] of Object.entries({ 'masks.zip': writeMasks, 'coco.json': writeCoco })) {
  const sink = new Sink(toMemory());
  await write({ video, sink, progress: () => {}, signal: new AbortController().signal });
  const blob = await sink.close();
  writeFileSync(join(folder, name), Buffer.from(await blob.arrayBuffer()));
}
