import { fileURLToPath } from 'node:url';
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
  return import(`data:text/javascript;base64,${Buffer.from(await bundled(name)).toString('base64')}`);
}
