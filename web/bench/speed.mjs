/**
 * How fast the built app is in a headless Chromium on this machine, without a graphics processor.
 *
 *     .venv/bin/mobilevos app --no-browser --port 8765 &
 *     node web/bench/speed.mjs http://127.0.0.1:8765/
 */
import { createServer, request } from 'node:http';
import { AppPage, launched } from '../tests/page.mjs';

const url = process.argv[2];
const browser = await launched();
const settled = async (page) => {
  // Every file has arrived when the list of kept files stops growing.
  for (let last = -1; ;) {
    const kept = await page.evaluate(async () => {
      const names = await caches.keys();
      return (await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))).flat().length;
    });
    if (kept === last && kept > 0) return;
    last = kept;
    await page.waitForTimeout(1500);
  }
};

/** Bytes over the network on the first visit, until the app works offline: counted by a proxy, workers included. */
async function firstLoad() {
  let bytes = 0;
  const proxy = createServer((asked, answer) => {
    request(new URL(asked.url, url), { headers: { ...asked.headers, host: new URL(url).host } }, (from) => {
      answer.writeHead(from.statusCode, from.headers);
      bytes += from.rawHeaders.join(': ').length;
      from.on('data', (part) => (bytes += part.length));
      from.pipe(answer);
    }).end();
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${proxy.address().port}/`);
  await settled(page);
  await context.close();
  proxy.close();
  return bytes;
}

/** Milliseconds from the pointer's release to the mask on the canvas, of several taps. */
async function tapToMask(app) {
  const times = [];
  for (const [x, y] of [
    [0.27, 0.22],
    [0.75, 0.3],
    [0.51, 0.72],
    [0.27, 0.24],
    [0.75, 0.32],
  ]) {
    await app.page.evaluate(() => {
      const editor = document.querySelector('.editor');
      window.released = window.shown = 0;
      addEventListener('pointerup', () => (window.released = performance.now()), { once: true, capture: true });
      const watch = new MutationObserver(() => {
        if (!window.released || editor.dataset.busy !== '') return;
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(() => (window.shown = performance.now())));
      });
      watch.observe(editor, { attributes: true, attributeFilter: ['data-busy'] });
    });
    await app.page.mouse.click(...(await app.at(x, y)));
    await app.page.waitForFunction(() => window.shown > 0);
    times.push(await app.page.evaluate(() => window.shown - window.released));
    await app.page.keyboard.press('a');
  }
  return times;
}

/** Frames a second through the whole sample, with one object. */
async function rate(size) {
  const app = await AppPage.open(browser, `${url}?engine=wasm&size=${size}`);
  await app.sample();
  await app.tap(0.27, 0.22);
  await app.page.keyboard.press('f');
  await app.page.waitForFunction(() => document.querySelector('.pace').textContent.includes('fps'));
  const begin = await app.page.evaluate(() => [performance.now(), Number(document.querySelector('.scrub').value)]);
  await app.idle();
  const end = await app.page.evaluate(() => [performance.now(), Number(document.querySelector('.scrub').value)]);
  await app.close();
  return (1000 * (end[1] - begin[1])) / (end[0] - begin[0]);
}

const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const wanted = process.argv[3] ?? 'all';
const report = {};
if (wanted === 'all' || wanted === 'bytes') report.firstLoadBytes = await firstLoad();
if (wanted === 'all' || wanted === 'tap') {
  const app = await AppPage.open(browser, `${url}?engine=wasm&size=480`);
  await app.sample();
  await app.page.waitForFunction(() => !document.querySelector('.about').textContent.includes('loading'));
  await app.page.waitForTimeout(1500); // a person needs longer to look where to tap
  const times = await tapToMask(app);
  report.tapToMask = { first: Math.round(times[0]), median: Math.round(middle(times)) };
  await app.close();
}
for (const size of [288, 480]) {
  if (wanted === 'all' || wanted === String(size)) report[`fps${size}`] = Number((await rate(size)).toFixed(1));
}
console.log(JSON.stringify(report, null, 2));
await browser.close();
