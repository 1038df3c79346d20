/** node tests/edges.mjs CASES.json: masks with edges as each case wants them, and their mattes, one JSON a line. */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const { cleaned, matte, SPECK, USUAL_EDGES } = await imported('parts.ts');
const file = process.argv[2];
if (!file) console.log(JSON.stringify({ SPECK, usual: USUAL_EDGES }));
for (const { height, width, ids, edges, marked } of file ? JSON.parse(readFileSync(file, 'utf8')) : []) {
  const size = { height, width };
  const clean = cleaned(Uint8Array.from(ids), size, edges, marked);
  console.log(JSON.stringify({ ids: [...clean], alpha: [...matte(clean, size, edges.feather)] }));
}
