import { cpSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { fingerprint } from './scripts/fingerprint.mjs';
import { pwa } from './scripts/pwa.mjs';

/** LiteRT's own files: with relaxed SIMD and threads, and without either for browsers that lack them. */
function litert(): Plugin {
  const from = fileURLToPath(new URL('node_modules/@litertjs/core/wasm', import.meta.url));
  let folder = '';
  return {
    name: 'litert',
    apply: 'build',
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir, 'litert');
    },
    writeBundle() {
      for (const build of ['threaded', 'compat']) {
        for (const ending of ['js', 'wasm']) {
          const file = `litert_wasm_${build}_internal.${ending}`;
          cpSync(`${from}/${file}`, `${folder}/${file}`);
        }
      }
    },
  };
}

// `vite build --mode draft` leaves out the service worker and the compression, which take a minute.
export default defineConfig(({ mode }) => ({
  base: './',
  plugins: mode === 'draft' ? [litert()] : [litert(), pwa(fingerprint())],
  // LiteRT.js loads its WebAssembly with importScripts, which only classic workers have.
  worker: { format: 'iife' },
  build: { outDir: '../src/mobilevos/web', emptyOutDir: true, target: 'es2022', reportCompressedSize: false },
}));
