// node scripts/fingerprint.mjs: one SHA-256 over all that the built app is made from, as the build writes it into
// files.json. tests/app/test_build.py computes it again, to see whether the built app is that of its source.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Files and folders below the repository's root. */
const SOURCES = [
  'src/mobilevos/export/templates/mobilenetv2-lite',
  'src/mobilevos/weights/mobilenetv2-lite.safetensors',
  'web/index.html',
  'web/package-lock.json',
  'web/package.json',
  'web/public',
  'web/scripts/fingerprint.mjs',
  'web/scripts/pwa.mjs',
  'web/scripts/sample.py',
  'web/src',
  'web/tsconfig.json',
  'web/vite.config.ts',
];

/** Made from the others. */
const MADE = /^web\/public\/(model|sample[^/]*\.mp4)$/;

/** Of what `sha256sum` prints for the files in the order of their paths. */
export function fingerprint() {
  const lines = SOURCES.flatMap(filesIn)
    .sort()
    .map((path) => `${sha256(readFileSync(ROOT + path))}  ${path}\n`);
  return sha256(lines.join(''));
}

/** Paths of the file, or of all files below the folder. */
function filesIn(path) {
  if (MADE.test(path)) return [];
  if (statSync(ROOT + path).isFile()) return [path];
  return readdirSync(ROOT + path).flatMap((name) => filesIn(`${path}/${name}`));
}

function sha256(content) {
  return createHash('sha256').update(content).digest('hex');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(fingerprint());
