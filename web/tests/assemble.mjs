/** assemble.mjs FOLDER HEIGHT WIDTH OBJECTS: the SHA-256 of the TFLite file that the page puts together. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { imported } from './export/bundle.mjs';

const [folder, height, width, objects] = process.argv.slice(2);
globalThis.fetch = async (url) => new Response(readFileSync(new URL(url)));
const { ModelFiles } = await imported('../parts.ts');
const files = await ModelFiles.open(`${pathToFileURL(folder).href}/`);
const model = await files.assemble({ height: Number(height), width: Number(width) }, Number(objects));
console.log(createHash('sha256').update(model).digest('hex'));
