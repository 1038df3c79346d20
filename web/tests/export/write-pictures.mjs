// node tests/export/write-pictures.mjs FOLDER: every export of the made clip, written by Chromium into FOLDER, and
// page.json: what the page found out about itself.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundled } from './bundle.mjs';
import { launched } from './chromium.mjs';

const folder = process.argv[2];
const code = await bundled('page.ts');
const browser = await launched();
try {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.exposeFunction('save', (name, base64) => writeFileSync(join(folder, name), Buffer.from(base64, 'base64')));
  // WebCodecs need a secure origin, which localhost is; nothing listens there, the answer is given here.
  await page.route('http://localhost/**', (route) =>
    route.request().url().endsWith('.js')
      ? route.fulfill({ contentType: 'text/javascript', body: code })
      : route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>export</title>' }),
  );
  await page.goto('http://localhost/');
  const found = await page.evaluate(async () => (await import('/page.js')).run());
  writeFileSync(join(folder, 'page.json'), JSON.stringify(found));
} finally {
  await browser.close();
}
