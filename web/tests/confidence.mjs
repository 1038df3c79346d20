/** confidence.mjs FILE: of {net, probabilities, areas} in JSON lines, the confidences; compared with the Python package's. */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const { confidences } = await imported('../parts.ts');
for (const line of readFileSync(process.argv[2], 'utf8').trim().split('\n')) {
  const { net, probabilities, areas } = JSON.parse(line);
  console.log(JSON.stringify(confidences(Float32Array.from(probabilities), net, areas)));
}
