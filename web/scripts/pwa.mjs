import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build } from 'vite';

const SOURCE = fileURLToPath(new URL('../src/pwa/service-worker.ts', import.meta.url));
const WORTH_IT = 0.9;
/** Needed on some devices only, or by some people: kept there when they are asked for. */
const LATER = /^(litert\/|sample[^/]*\.mp4$)/;

/**
 * Vite plugin: after the build, writes `files.json`, the hash of every file, which of them are fetched only when they are
 * needed (`later`), and `source`, the hash of all they were made from; `sw.js`, which keeps them on the device; and a `.br` beside each that gets smaller by it.
 */
export function pwa(source) {
  let folder = '';
  return {
    name: 'mobilevos-pwa',
    apply: 'build',
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    writeBundle: {
      order: 'post',
      sequential: true,
      async handler() {
        const files = hashes(folder);
        const later = Object.keys(files).filter((path) => LATER.test(path));
        writeFileSync(join(folder, 'files.json'), JSON.stringify({ source, files, later }, null, 1) + '\n');
        writeFileSync(join(folder, 'sw.js'), await serviceWorker());
        await compress(folder);
      },
    },
  };
}

/** SHA-256 of each file's content, by its path below the folder. */
function hashes(folder) {
  const skipped = /(^sw\.js|^files\.json|\.br|\.gz|\.map)$/;
  const sha256 = (path) =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  const paths = files(folder).filter((path) => !skipped.test(path));
  return Object.fromEntries(paths.map((path) => [path, sha256(path)]));
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

async function serviceWorker() {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: { write: false, lib: { entry: SOURCE, formats: ['iife'], name: 'worker', fileName: 'sw' } },
  });
  return built[0].output[0].code;
}

async function compress(folder) {
  const brotli = promisify(brotliCompress);
  // 11 makes 10 MB of WebAssembly an eighth smaller still, but takes more than ten times as long.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  for (const path of files(folder).filter((name) => !/\.(br|gz)$/.test(name))) {
    const content = readFileSync(join(folder, path));
    const smaller = await brotli(content, { params });
    if (smaller.length < WORTH_IT * content.length) writeFileSync(join(folder, `${path}.br`), smaller);
  }
}
