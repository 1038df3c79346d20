/**
 * confidence.mjs FILE: of {frame, size, look, probabilities, masks, rating} in JSON lines, the confidences; compared with the Python
 * package's. `masks`: of the objects where they were annotated, as the network was given them, through the whole frame.
 */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const { confidences, fit, sizeOf, windowOf } = await imported('../parts.ts');
for (const line of readFileSync(process.argv[2], 'utf8').trim().split('\n')) {
  const { frame, size, look, probabilities, masks, rating } = JSON.parse(line);
  const whole = fit(frame, size);
  const sizes = masks.map((mask) => sizeOf(Float32Array.from(mask), 0, mask.length, whole));
  const found = confidences(
    Float32Array.from(probabilities),
    windowOf(whole, ...look),
    sizes,
    Float32Array.from(rating),
  );
  console.log(JSON.stringify(found));
}
