import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';

/** The code of a TypeScript file beside this one and of all it imports, as one ES module. */
export async function bundled(name) {
  const entry = fileURLToPath(new URL(name, import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: { write: false, minify: false, target: 'es2022', lib: { entry, formats: ['es'] } },
  });
  return built[0].output[0].code;
}

/** The same, imported into this process. */
export async function imported(name) {
  const folder = await mkdtemp(join(tmpdir(), 'mobilevos-'));
  try {
    const file = join(folder, 'bundle.mjs');
    await writeFile(file, await bundled(name));
    return await import(pathToFileURL(file));
  } finally {
    await rm(folder, { recursive: true });
  }
}
