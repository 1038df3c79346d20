/**
 * constraints.mjs: the numbers of `tracking/constraints.ts` and `tracking/parts.ts`, as JSON.
 * constraints.mjs FILE: what it makes of the cases in FILE (JSON): the pixels of each mask, as indices
 * (of a case with `marks`, its strays);
 * `tests/web/test_constraints.py` makes the same of them in Python.
 */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const { CONSTRAINTS, obeyed, PARTS, strays } = await imported('../parts.ts');

const indices = (mask) => [...mask].flatMap((value, i) => (value ? [i] : []));

function made({ height, width, rgb, mask, on, off, others, marks }) {
  if (marks) return indices(strays(Uint8Array.from(mask), Uint8Array.from(marks), { height, width }));
  const data = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let i = 0; i < data.length; i++) if (i % 4 < 3) data[i] = rgb[(i >> 2) * 3 + (i % 4)];
  const points = (pairs) => pairs.map(([x, y]) => ({ x, y }));
  const after = obeyed(
    { data, height, width },
    Uint8Array.from(mask),
    points(on),
    points(off),
    others && Uint8Array.from(others),
  );
  return indices(after);
}

if (process.argv[2]) {
  console.log(JSON.stringify(JSON.parse(readFileSync(process.argv[2], 'utf8')).map(made)));
} else {
  console.log(JSON.stringify({ ...CONSTRAINTS, ...PARTS }));
}
