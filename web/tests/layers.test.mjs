/** Imports between the folders of src point one way: each can be read without those above it, and none form a circle. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The folders of src, lowest first: each imports from itself and from those before it. '.' is src itself. */
const LAYERS = ['style', 'pwa', 'video', 'tracking', 'engine', 'export', 'editor', 'ui', '.'];

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const IMPORTS = [
  /\bfrom\s*['"](\.[^'"]*)['"]/g, // import and export ... from
  /\bimport\s*\(?\s*['"](\.[^'"]*)['"]/g, // for its effects, or while the app runs
  /\bnew URL\(\s*['"](\.[^'"]*)['"],\s*import\.meta\.url/g, // a worker
];

const folderOf = (file) => {
  const [folder, ...rest] = relative(SRC, file).split(sep);
  return rest.length ? folder : '.';
};

const files = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

/** Every import that leaves its folder. */
const crossings = files
  .filter((file) => /\.(ts|mjs|js)$/.test(file))
  .flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const paths = IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path));
    return paths.map((path) => ({ file, path, from: folderOf(file), to: folderOf(join(dirname(file), path)) }));
  })
  .filter(({ from, to }) => from !== to);

test('every folder has its place', () => {
  assert.deepEqual([...new Set(files.map(folderOf))].sort(), [...LAYERS].sort());
});

test('a folder imports only from those below it', () => {
  const below = ({ from, to }) => LAYERS.slice(0, LAYERS.indexOf(from)).includes(to);
  const upward = crossings.filter((crossing) => !below(crossing));
  assert.deepEqual(
    upward.map(({ file, path }) => `${relative(SRC, file)} imports ${path}`),
    [],
  );
});

test('imports of every form are seen', () => {
  const seen = new Set(crossings.map(({ from, to }) => `${from} -> ${to}`));
  for (const pair of ['. -> ui', 'ui -> editor', 'editor -> engine', 'engine -> tracking']) {
    assert.ok(seen.has(pair), pair);
  }
  const text = `import a from './a'; export { b } from "./b"; import './c'; await import('./d'); new URL('./e', import.meta.url)`;
  const found = IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path));
  assert.deepEqual(found.sort(), ['./a', './b', './c', './d', './e']);
});
