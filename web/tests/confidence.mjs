/**
 * confidence.mjs FILE: of {frame, size, look, probabilities, rating, keys, covered} in JSON lines, the confidences and look-alikes; compared with
 * the Python package's. `keys` (channels, 2, cells): of the annotated frame and of this one; `covered` (N, cells): what objects
 * cover in the former; null where nothing is annotated.
 */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const { alike, annotatedCells, confidences, fit, keysOf, someCells, windowOf } = await imported('../parts.ts');

function looks(keys, covered, net) {
  const grid = { height: net.height / 16, width: net.width / 16 };
  const [all, some] = [Float32Array.from(keys), someCells(grid)];
  const of = (slot) => keysOf(all, { slot, slots: 2, cells: grid.height * grid.width }, some);
  const shares = covered.map((cells) => Float32Array.from(some, (cell) => cells[cell]));
  return alike(of(1), annotatedCells(of(0), shares));
}

for (const line of readFileSync(process.argv[2], 'utf8').trim().split('\n')) {
  const { frame, size, look, probabilities, rating, keys, covered } = JSON.parse(line);
  const geometry = windowOf(fit(frame, size), ...look);
  const found = confidences(
    Float32Array.from(probabilities),
    geometry,
    rating.length,
    Float32Array.from(rating),
    keys && looks(keys, covered, geometry.net),
  );
  console.log(JSON.stringify(found));
}
