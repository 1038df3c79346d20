/**
 * The app from end to end. Needs its address in APP_URL, the number of files of a first visit in APP_FILES, a clip with two objects
 * in APP_CLIP (their places in APP_TAPS, a JSON list of x, y from 0 to 1), a large one with a small object in APP_SMALL
 * (its place in APP_SMALL_TAP), one in 4K with an object in its middle in APP_LARGE, a still picture of the first for the camera in APP_CAMERA (Y4M), and a folder for what
 * is exported in APP_OUT.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFileSync, writeFileSync } from 'node:fs';
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
  await app.page.keyboard.press('a');
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
  await dialog.locator('[data-format=over]').click();
  await dialog.getByRole('radiogroup', { name: 'Background' }).getByRole('radio', { name: 'Blur' }).click();
  await app.export('over', out('blur.webm'));
  await app.begin('mp4'); // where the browser has an encoder
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
  await app.page.keyboard.press('a');
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
  const [[left, y], [right]] = [await app.at(0.4, 0.5), await app.at(0.6, 0.5)];
  const touch = await app.page.context().newCDPSession(app.page);
  const fingers = (type, apart) =>
    touch.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: apart === null ? [] : [left - apart, right + apart].map((x, id) => ({ x, y, id })),
    });
  await fingers('touchStart', 0);
  for (const apart of [10, 20, 30]) await fingers('touchMove', apart);
  await fingers('touchEnd', null);
  await app.page.getByRole('button', { name: 'Show all of the picture' }).tap(); // two fingers come closer, and mark nothing
  assert.equal(await app.page.locator('.objects .pick').count(), 1);
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
  const whole = readFileSync(APP_CLIP); // PyAV writes at the end where the pictures are
  await offer('broken.mp4', whole.subarray(0, 0.7 * whole.length));
  await alert.getByText('“broken.mp4” is incomplete: its end is missing').waitFor();
  const sample = Buffer.from(await (await fetch(`${APP_URL}sample.mp4`)).arrayBuffer()); // and this one at its beginning
  await offer('half.mp4', sample.subarray(0, 0.6 * sample.length));
  await app.page.getByText(/“half.mp4” was cut off: \d\d of its 60 frames are there/).waitFor();
  await app.opened();
  await app.page.getByRole('button', { name: 'New video' }).click();
  await offer('empty.mp4', '');
  await alert.getByText('“empty.mp4” is empty').waitFor();
  await app.page.getByRole('button', { name: 'Use the camera' }).click();
  await alert.getByText(/The camera is blocked|No camera was found/).waitFor();
  await app.file(APP_CLIP);
  assert.equal(await alert.textContent(), '');
  await app.tap(...TAPS[0]);
  // A worker that dies, as it does when the browser runs out of memory, costs nothing but time.
  const workers = app.page.workers().filter((worker) => worker.url().includes('/assets/worker'));
  const engines = await Promise.all(workers.map((worker) => worker.evaluate(() => self.name === 'mobilevos')));
  const engine = workers[engines.indexOf(true)];
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

test('the camera: counted down, recorded at its full rate, then followed', async (t) => {
  const fake = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  const camera = await launched(...fake, `--use-file-for-fake-video-capture=${process.env.APP_CAMERA}`);
  t.after(() => camera.close());
  const app = await AppPage.open(camera, QUICK);
  const { page } = app;
  await page.getByRole('button', { name: 'Use the camera' }).click();
  const finder = page.getByRole('dialog', { name: 'Camera' });
  await finder.getByRole('button', { name: 'Other camera' }).click();
  await finder.locator('video.mirrored').waitFor();
  await finder.getByRole('button', { name: 'Record', exact: true }).click();
  await finder.getByText('3', { exact: true }).waitFor();
  await finder.getByText('0:02').waitFor({ timeout: 60_000 });
  await finder.getByRole('button', { name: 'Stop recording' }).click();
  await app.opened();
  const frames = Number((await app.strip()).match(/of (\d+) frames/)[1]);
  assert.ok(frames >= 10, `${frames} frames`); // 30 a second where nothing else runs
  await app.tap(...TAPS[0]);
  await app.follow();
  assert.match(await app.strip(), new RegExp(`^${frames} of ${frames} frames followed`));
  assert.deepEqual(app.complaints, []);
});

test('a reload loses nothing: the session is offered again, and so is a project', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(APP_CLIP);
  await app.tap(...TAPS[0]);
  await page.getByLabel('Name of object 1').fill('fox');
  await page.getByLabel('Name of object 1').press('Enter');
  await app.seek(3);
  await page.keyboard.press('o');
  await app.seek(0);
  await app.follow();
  assert.match(await app.strip(), /^4 of 31 frames followed/);
  await page.getByLabel('Grow').fill('2');
  await app.seek(2);
  const marked = await app.marked();
  await app.kept();
  await page.waitForTimeout(1500); // settings are kept a moment after masks
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save a project' }).click();
  await (await download).saveAs(out('clip.mobilevos'));
  await page.reload();
  await page.getByText('Go on where you were?').waitFor();
  const same = async () => {
    await app.opened();
    assert.match(await app.strip(), /^4 of 31 frames followed/);
    assert.equal(await page.getByLabel('Name of object 1').inputValue(), 'fox');
    assert.equal(await page.getByLabel('Grow').inputValue(), '2');
    assert.equal(await page.getByRole('slider', { name: 'Out point' }).getAttribute('aria-valuenow'), '4');
    await app.seek(2);
    assert.equal(await app.marked(), marked);
  };
  await page.getByRole('button', { name: /Go on/ }).click();
  await same();
  await page.getByRole('button', { name: 'New video' }).click();
  await page.getByRole('button', { name: 'Discard clip.mp4' }).click();
  await page.getByText('Go on where you were?').waitFor({ state: 'hidden' });
  await app.file(out('clip.mobilevos'));
  await same();
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  assert.deepEqual(app.complaints, []);
  await app.close();
});

test('only what is between the in and the out point is followed and exported', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(APP_CLIP);
  await app.seek(10);
  await page.keyboard.press('i');
  await app.tap(...TAPS[1]);
  await app.seek(16);
  await page.keyboard.press('o');
  await app.seek(10);
  await app.follow();
  assert.match(await app.strip(), /^7 of 31 frames followed/);
  await page.getByRole('banner').getByRole('button', { name: 'Export' }).click();
  await page.locator('.facts').getByText('Frames 11 to 17').waitFor();
  await app.export('masks', out('part.zip'));
  await app.export('over', out('part.webm'));
  await app.close();
});

test('closer, taps are as exact as from afar', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(APP_CLIP);
  const [x, y] = TAPS[0];
  await page.mouse.move(...(await app.at(x, y)));
  await page.mouse.wheel(0, -500);
  await page.getByRole('button', { name: 'Show all of the picture' }).waitFor();
  const zoom = Number((await page.locator('.closeness').textContent()).match(/(\d+)/)[1]) / 100;
  assert.ok(zoom > 1.9 && zoom < 2.3, `${zoom}`);
  await page.keyboard.down(' ');
  await app.drag([
    [0.6, 0.5],
    [0.45, 0.45],
  ]);
  await page.keyboard.up(' '); // the picture was moved, nothing was marked or played
  assert.equal(await page.locator('.objects .pick').count(), 0);
  assert.match(await page.locator('.pace').textContent(), /^frame 1 of/);
  await app.tap(x - 0.15, y - 0.05);
  await page.keyboard.press('0');
  await page.waitForFunction(() => document.querySelector('.closeness').hidden);
  // The middle of the sign that was drawn, from 0 to 1, is where the object is.
  const [u, v] = await page.evaluate(() => {
    const canvas = document.querySelector('canvas.marks');
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const found = [...data.keys()].filter((i) => i % 4 === 3 && data[i] > 0).map((i) => i >> 2);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [
      mean(found.map((i) => (i % width) + 0.5)) / width,
      mean(found.map((i) => Math.floor(i / width) + 0.5)) / height,
    ];
  });
  assert.ok(Math.abs(u - x) < 0.003 && Math.abs(v - y) < 0.005, `${[u, v]} instead of ${[x, y]}`);
  assert.equal(await page.locator('.objects .pick').count(), 1);
  await app.close();
});

test('where the pointer rests, what a tap would find is shown, and nothing is marked', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(APP_CLIP);
  await page.waitForFunction(() => !document.querySelector('.about').textContent.includes('loading'));
  const before = await app.marked();
  await page.mouse.move(...(await app.at(...TAPS[0])));
  while ((await app.marked()) === before) await page.waitForTimeout(100);
  assert.match(await app.strip(), /^0 of 31 frames followed/);
  await page.mouse.move(2, 2);
  while ((await app.marked()) !== before) await page.waitForTimeout(100);
  await app.close();
});

test('edges and effects change what is shown, and what is exported', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(APP_CLIP);
  await app.tap(...TAPS[0]);
  await app.export('masks', out('usual.zip'));
  await page.keyboard.press('Escape');
  const before = await app.marked();
  await page.getByLabel('Grow').fill('6');
  await page.waitForFunction((was) => {
    const canvas = document.querySelector('canvas.view');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) sum += data[i] * 3 + data[i + 1] * 5 + data[i + 2] * 7;
    return sum !== was;
  }, before);
  await app.export('masks', out('grown.zip'));
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.locator('[data-format=still]').click();
  await dialog.getByRole('radio', { name: 'Grey' }).click();
  await dialog.getByLabel('Outline').check();
  await app.export('still', out('grey.png'));
  await dialog.getByLabel('Outline').uncheck();
  await dialog.getByRole('radiogroup', { name: 'Object' }).getByRole('radio', { name: 'Pixels' }).click();
  await dialog.getByRole('radio', { name: 'Keep' }).click();
  await app.export('still', out('hidden.png'));
  assert.deepEqual(app.complaints, []);
  await app.close();
});

test('an export is written where the person wants it, and the page is free meanwhile', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(process.env.APP_LARGE);
  await app.tap(0.5, 0.5);
  await page.evaluate(async () => {
    // A real file, without the dialog of the system that would ask for it.
    window.showSaveFilePicker = async ({ suggestedName }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });
    // What encodes does so in a worker; how long the page's own tasks are is told by bench/export.mjs.
    for (const name of ['VideoEncoder', 'AudioEncoder']) {
      window[name] = new Proxy(window[name], {
        construct() {
          window.busyHere = name;
          throw new Error('not in the page');
        },
      });
    }
  });
  await page.getByRole('banner').getByRole('button', { name: 'Export' }).click();
  await page.getByRole('dialog').getByLabel('All frames').check();
  await app.begin('over');
  await page.locator('.working.done').waitFor({ timeout: 180_000 });
  const { size, tracks } = await page.evaluate(async () => {
    const folder = await navigator.storage.getDirectory();
    const file = await (await folder.getFileHandle('large-video.webm')).getFile();
    return { size: file.size, tracks: [...new Uint8Array(await file.slice(0, 4).arrayBuffer())] };
  });
  assert.ok(size > 1000, `${size} bytes`);
  assert.deepEqual(tracks, [0x1a, 0x45, 0xdf, 0xa3]);
  assert.equal(await page.evaluate(() => window.busyHere), undefined);
  await app.close();
});

test('offline after the first visit', async () => {
  const app = await AppPage.open(browser, APP_URL);
  const kept = async () => {
    const names = (await caches.keys()).filter((key) => key.startsWith('mobilevos'));
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().filter(({ url }) => url.includes('?sha256=')).length;
  };
  // All but what is for later, of which one build of the engine is in use: two files.
  while ((await app.page.evaluate(kept)) < Number(process.env.APP_FILES) + 2) await app.page.waitForTimeout(200);
  const address = new URL('sample.mp4', APP_URL).href;
  await app.page.evaluate((url) => fetch(url).then((response) => response.blob()), address);
  await app.page.context().setOffline(true);
  await app.page.goto(QUICK);
  await app.sample();
  await app.tap(0.27, 0.22);
  assert.equal(await app.page.locator('.objects .pick').count(), 1);
  await app.close();
});
