/**
 * The app from end to end. Needs its address in APP_URL, the number of its files in APP_FILES, a clip with two objects
 * in APP_CLIP (their places in APP_TAPS, a JSON list of x, y from 0 to 1), a large one with a small object in APP_SMALL
 * (its place in APP_SMALL_TAP), a still picture of the first for the camera in APP_CAMERA (Y4M), and a folder for what
 * is exported in APP_OUT.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppPage, launched } from './page.mjs';

const { APP_URL, APP_CLIP, APP_OUT } = process.env;
const TAPS = JSON.parse(process.env.APP_TAPS);
const FIXED = `${APP_URL}?engine=wasm&size=480`;
const QUICK = `${APP_URL}?engine=wasm&size=288`;
const out = (name) => join(APP_OUT, name);

let browser;
before(async () => (browser = await launched()));
after(() => browser.close());

test('two taps, followed through the clip, exported in every format', async () => {
  const app = await AppPage.open(browser, FIXED);
  await app.file(APP_CLIP);
  await app.tap(...TAPS[0]);
  await app.page.keyboard.press('o');
  await app.tap(...TAPS[1]);
  assert.equal(await app.page.locator('.objects li').count(), 2);
  await app.follow();
  assert.match(await app.strip(), /^31 of 31 frames followed/);
  for (const [format, name] of [
    ['masks', 'masks.zip'],
    ['coco', 'coco.json'],
    ['still', 'still.png'],
    ['transparent', 'cutout.webm'],
  ]) {
    await app.export(format, out(name));
  }
  const dialog = app.page.getByRole('dialog', { name: 'Export' });
  const notes = { name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') };
  await dialog.getByLabel('Background picture').setInputFiles(notes);
  await dialog.getByRole('alert').getByText('“notes.png” cannot be read as a picture.').waitFor();
  await dialog.getByRole('radio', { name: 'Blur' }).click();
  await app.export('over', out('blur.webm'));
  await app.page.locator('[data-format=mp4]').click(); // where the browser has an encoder
  const alert = dialog.getByRole('alert').getByText('cannot write H.264').waitFor({ timeout: 60_000 });
  const file = app.page.waitForEvent('download', { timeout: 60_000 });
  const made = await Promise.any([alert.then(() => null), file]);
  if (made) await made.saveAs(out('composed.mp4'));
  writeFileSync(out('mp4.txt'), made ? 'written' : await dialog.getByRole('alert').textContent());
  for (const rest of [alert, file]) rest.catch(() => undefined);
  assert.deepEqual(app.complaints, []);
  await app.close();
});

test('a small object in a large frame', async () => {
  const app = await AppPage.open(browser, `${APP_URL}?engine=wasm&size=320`);
  await app.file(process.env.APP_SMALL);
  await app.tap(...JSON.parse(process.env.APP_SMALL_TAP));
  await app.follow();
  assert.match(await app.strip(), /^8 of 8 frames followed/);
  await app.export('masks', out('small.zip'));
  assert.deepEqual(app.complaints, []);
  await app.close();
});

test('marks: box, brush, eraser, minus; undo and redo bring each state back', async () => {
  const app = await AppPage.open(browser, QUICK);
  await app.file(APP_CLIP);
  const states = [await app.marked()];
  const [x, y] = TAPS[0];
  const keep = async () => states.push(await app.marked());
  await app.page.keyboard.press('b');
  await app.drag([
    [x - 0.12, y - 0.2],
    [x + 0.12, y + 0.2],
  ]);
  await keep();
  await app.page.keyboard.press('p');
  await app.drag([
    [x, y],
    [x + 0.15, y + 0.2],
  ]);
  await keep();
  await app.page.keyboard.press('e');
  await app.drag([
    [x - 0.05, y],
    [x + 0.1, y + 0.1],
  ]);
  await keep();
  await app.page.keyboard.press('t');
  await app.tap(x + 0.13, y + 0.17, 'right'); // on what the brush left
  await keep();
  assert.equal(new Set(states).size, 5, 'each mark changes the picture');
  for (const state of states.slice(0, -1).reverse()) {
    await app.page.keyboard.press('z');
    await app.page.waitForTimeout(50);
    assert.equal(await app.marked(), state);
  }
  for (const state of states.slice(1)) {
    await app.page.keyboard.press('Shift+Z');
    await app.page.waitForTimeout(50);
    assert.equal(await app.marked(), state);
  }
  await app.close();
});

test('names are typed, not taken for keys', async () => {
  const app = await AppPage.open(browser, QUICK);
  await app.file(APP_CLIP);
  await app.tap(...TAPS[0]);
  await app.page.keyboard.press('o');
  await app.tap(...TAPS[1]);
  await app.page.getByLabel('Name of object 1').click(); // the other one was active
  await app.page.keyboard.press('ControlOrMeta+A');
  await app.page.keyboard.type('fox', { delay: 40 });
  await app.page.keyboard.press('Enter');
  await app.page.getByRole('button', { name: 'Mark fox', pressed: true }).waitFor();
  assert.equal(await app.page.getByLabel('Name of object 1').inputValue(), 'fox');
  assert.match(await app.strip(), /^1 of 31 frames followed/);
  await app.close();
});

test('follow back from the middle, mend a frame, follow again: what was drawn stays', async () => {
  const app = await AppPage.open(browser, QUICK);
  await app.file(APP_CLIP);
  await app.seek(4);
  await app.tap(...TAPS[0]);
  await app.follow('Follow back');
  assert.match(await app.strip(), /^5 of 31 frames followed/);
  await app.seek(2);
  await app.page.keyboard.press('e');
  await app.drag([
    [TAPS[0][0] - 0.1, TAPS[0][1]],
    [TAPS[0][0] + 0.1, TAPS[0][1]],
  ]);
  const mended = await app.marked();
  await app.seek(4);
  await app.follow('Follow back');
  await app.seek(2);
  assert.equal(await app.marked(), mended);
  await app.page.keyboard.press('z');
  await app.page.keyboard.press('z');
  assert.match(await app.strip(), /^5 of 31 frames followed/);
  await app.close();
});

test('a phone: touch, no mouse, nothing cut off', async () => {
  const app = await AppPage.open(browser, QUICK, {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
  });
  await app.file(APP_CLIP);
  await app.touch(...TAPS[0]);
  assert.equal(await app.page.locator('.objects .pick').count(), 1);
  await app.page.getByRole('button', { name: 'Follow', exact: true }).tap();
  await app.page.waitForFunction(() => document.querySelector('.scrub').value >= 3);
  await app.page.getByRole('button', { name: 'Pause' }).tap();
  await app.idle();
  const wide = await app.page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
  for (const button of await app.page.getByRole('toolbar').getByRole('button').all()) {
    const box = await button.boundingBox();
    if (box) assert.ok(box.width >= 40 && box.height >= 40, 'large enough for a thumb');
  }
  await app.close();
});

test('every control has a name for screen readers', async () => {
  const app = await AppPage.open(browser, QUICK);
  await app.file(APP_CLIP);
  const nameless = await app.page.evaluate(() =>
    [...document.querySelectorAll('button, input, select, canvas:not([aria-hidden])')]
      .filter((e) => !e.getAttribute('aria-label') && !e.textContent.trim())
      .map((e) => e.outerHTML),
  );
  assert.deepEqual(nameless, []);
  await app.close();
});

test('what goes wrong is said in a sentence, and the work stays', async () => {
  const app = await AppPage.open(browser, QUICK);
  const alert = app.page.getByRole('alert');
  const offer = (name, content) =>
    app.page.getByLabel('Video file').setInputFiles({ name, mimeType: 'video/mp4', buffer: Buffer.from(content) });
  await offer('notes.mp4', 'this is not a video');
  await alert.getByText('This browser cannot read “notes.mp4”').waitFor();
  await offer('empty.mp4', '');
  await alert.getByText('“empty.mp4” is empty').waitFor();
  await app.page.getByRole('button', { name: 'Use the camera' }).click();
  await alert.getByText(/The camera is blocked|No camera was found/).waitFor();
  await app.file(APP_CLIP);
  assert.equal(await alert.textContent(), '');
  await app.tap(...TAPS[0]);
  // A worker that dies, as it does when the browser runs out of memory, costs nothing but time.
  const engine = app.page.workers().find((worker) => worker.url().includes('/assets/worker'));
  await engine.evaluate(
    () =>
      void setTimeout(() => {
        throw new RangeError('Out of memory');
      }),
  );
  await app.page.getByRole('button', { name: 'Next frame' }).click();
  await app.tap(...TAPS[0]);
  assert.match(await app.strip(), /^2 of 31 frames followed/);
  await app.close();
});

test('the camera: tap, followed live, kept as a video', async (t) => {
  const fake = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  const camera = await launched(...fake, `--use-file-for-fake-video-capture=${process.env.APP_CAMERA}`);
  t.after(() => camera.close());
  const app = await AppPage.open(camera, QUICK);
  await app.page.getByRole('button', { name: 'Use the camera' }).click();
  await app.page.locator('.editor.live').waitFor();
  await app.page.mouse.click(...(await app.at(...TAPS[0])));
  await app.page.waitForFunction(() => document.querySelector('.pace').textContent.endsWith('fps'));
  await app.page.getByRole('button', { name: 'Pause' }).click();
  await app.idle();
  assert.match(await app.strip(), /^(\d+) of \1 frames followed/);
  // A step ends a recording as well; what was recorded stays.
  app.page.on('dialog', (dialog) => void dialog.accept());
  await app.page.getByRole('button', { name: 'New video' }).click();
  await app.page.getByRole('button', { name: 'Use the camera' }).click();
  await app.page.locator('.editor.live').waitFor();
  await app.page.mouse.click(...(await app.at(...TAPS[0])));
  await app.page.waitForFunction(() => document.querySelector('.pace').textContent.endsWith('fps'));
  await app.page.keyboard.press('ArrowLeft');
  await app.page.locator('.editor:not(.live)').waitFor();
  assert.match(await app.strip(), /^(\d+) of \1 frames followed/);
});

test('offline after the first visit', async () => {
  const app = await AppPage.open(browser, APP_URL);
  const kept = async () => {
    const names = (await caches.keys()).filter((key) => key.startsWith('mobilevos'));
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().length;
  };
  while ((await app.page.evaluate(kept)) < Number(process.env.APP_FILES)) await app.page.waitForTimeout(200);
  await app.page.context().setOffline(true);
  await app.page.goto(QUICK);
  await app.sample();
  await app.tap(0.27, 0.22);
  assert.equal(await app.page.locator('.objects .pick').count(), 1);
  await app.close();
});
