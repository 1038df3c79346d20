import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { pwa } from '../../scripts/pwa.mjs';
import { launched } from './chromium.mjs';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.bin': 'application/octet-stream' };
const register = fileURLToPath(new URL('../../src/pwa/register.ts', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'mobilevos-pwa-'));
let served = ''; // the folder the host shows now
let asked = []; // what it was asked for since this was last emptied
let server;
let browser;
let page;

/** A tiny app that shows its version and that of its model, built as the real one is. */
async function built(version) {
  const root = join(scratch, `source-${version}`);
  mkdirSync(join(root, 'public', 'model'), { recursive: true });
  writeFileSync(join(root, 'public', 'model', 'weights.bin'), 'the same weights in every version, '.repeat(50));
  writeFileSync(join(root, 'public', 'model', 'head.bin'), `head ${version}`);
  writeFileSync(
    join(root, 'public', 'worker.js'),
    `fetch('model/head.bin').then((r) => r.text()).then((head) => postMessage('worker ${version}, ' + head));`,
  );
  writeFileSync(join(root, 'index.html'), '<!doctype html><script type="module" src="./main.js"></script>');
  writeFileSync(
    join(root, 'main.js'),
    `import { registerServiceWorker } from ${JSON.stringify(register)};
    registerServiceWorker();
    const head = await (await fetch(new URL("model/head.bin", document.baseURI))).text();
    document.title = "page ${version}, " + head;`,
  );
  const outDir = join(scratch, `built-${version}`);
  const options = { root, base: './', configFile: false, logLevel: 'warn', plugins: [pwa(version)] };
  await build({ ...options, build: { outDir, emptyOutDir: true, target: 'es2022' } });
  return outDir;
}

before(async () => {
  // A plain host below a path, as project pages are: no headers but the type.
  server = createServer((request, response) => {
    const name = new URL(request.url, 'http://host').pathname.replace(/^\/app\//, '') || 'index.html';
    asked.push(name);
    try {
      const content = readFileSync(join(served, name));
      response.writeHead(200, { 'Content-Type': TYPES[extname(name)] ?? 'text/plain' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await launched();
  page = await (await browser.newContext()).newPage();
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const titled = (title) => page.waitForFunction((wanted) => document.title === wanted, title);
const update = () => page.evaluate(() => navigator.serviceWorker.controller.postMessage('update'));

/** Ask for updates until the device keeps so many files, of all versions together. */
async function kept(count) {
  const counted = async () => {
    const cache = await caches.open(`mobilevos ${new URL('.', location.href).href}`);
    const requests = await cache.keys();
    const ready = requests.some(({ url }) => url.endsWith('?version=ready'));
    return ready ? requests.filter(({ url }) => url.includes('?sha256=')).length : 0;
  };
  while ((await page.evaluate(counted)) !== count) {
    await update();
    await page.waitForTimeout(100);
  }
}

test('the first visit makes the page isolated on a host that does not send the headers', async () => {
  served = await built('one');
  await page.goto(`http://127.0.0.1:${server.address().port}/app/`);
  await page.waitForFunction(() => crossOriginIsolated);
  await titled('page one, head one');
});

test('after it the app starts without a network', async () => {
  await kept(5); // page, script, worker and two files of the model
  served = 'gone';
  asked = [];
  await page.reload();
  await titled('page one, head one');
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.deepEqual(
    asked.filter((name) => !['sw.js', 'files.json', 'favicon.ico'].includes(name)),
    [],
  );
});

test('a broken new version changes nothing', async () => {
  const broken = await built('two');
  writeFileSync(join(broken, 'model', 'head.bin'), 'not what was built');
  served = broken;
  asked = [];
  await update();
  while (!asked.includes('model/head.bin')) await page.waitForTimeout(50);
  await page.reload();
  await titled('page one, head one');
});

test('a page keeps the version it began with; only what changed is fetched; the next page gets it', async () => {
  served = await built('three');
  asked = [];
  await kept(10 - 1); // the weights are the same
  assert.equal(asked.includes('model/weights.bin'), false);
  const model = () => page.evaluate(async () => (await fetch('model/head.bin')).text());
  assert.equal(await model(), 'head one');
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.waitForFunction(() => document.title === 'page three, head three');
  assert.equal(await model(), 'head one');
  await other.close();
  await page.reload();
  await titled('page three, head three');
  await kept(5); // what only the first version needed is gone
});

test('a worker has the version of its page', async () => {
  served = await built('four');
  await kept(10 - 1);
  const heard = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const worker = new Worker('worker.js');
        worker.onmessage = ({ data }) => resolve(data);
      }),
  );
  assert.equal(heard, 'worker three, head three');
});
