/**
 * What is heard while the video plays. Needs the app's address in APP_URL, a clip of 120 frames in four seconds in APP_SOUND,
 * silent in its first half and a tone of 440 Hz in the second, one without sound in APP_SILENT, and a folder for what is
 * exported in APP_OUT.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { AppPage, launched } from './page.mjs';

const { APP_URL } = process.env;
const QUICK = `${APP_URL}?engine=wasm&size=288`;

let browser;
before(async () => (browser = await launched('--autoplay-policy=user-gesture-required')));
after(() => browser.close());

/** Everything that goes to the loudspeaker is listened to: `heard` is a list of [loudness, hertz of the loudest]. */
async function listening(path) {
  const app = await AppPage.open(browser, 'about:blank');
  await app.page.addInitScript(() => {
    window.heard = [];
    const connect = AudioNode.prototype.connect;
    AudioNode.prototype.connect = function (target, ...rest) {
      if (target instanceof AudioDestinationNode) {
        const ear = new AnalyserNode(this.context, { fftSize: 8192, smoothingTimeConstant: 0 });
        connect.call(this, ear);
        const [bins, wave] = [new Float32Array(ear.frequencyBinCount), new Float32Array(ear.fftSize)];
        setInterval(() => {
          ear.getFloatFrequencyData(bins);
          ear.getFloatTimeDomainData(wave);
          const loudest = bins.indexOf(Math.max(...bins));
          const power = wave.reduce((sum, value) => sum + value * value, 0) / wave.length;
          window.heard.push([Math.sqrt(power), (loudest * this.context.sampleRate) / ear.fftSize]);
        }, 20);
      }
      return connect.call(this, target, ...rest);
    };
  });
  await app.page.goto(QUICK);
  await app.file(path);
  return app;
}

/** Play from a frame to where it ends by itself, and what was heard meanwhile. */
async function played(app, frame) {
  await app.page.waitForTimeout(500); // the ear forgets
  await app.seek(frame);
  await app.page.evaluate(() => window.heard.splice(0));
  await app.page.getByRole('button', { name: 'Play' }).click();
  await app.page.getByRole('button', { name: 'Pause' }).waitFor();
  await app.page.getByRole('button', { name: 'Play' }).waitFor();
  return app.page.evaluate(() => window.heard);
}

const loudest = (heard) => heard.reduce((a, b) => (b[0] > a[0] ? b : a), [0, 0]);

test('the sound of what is shown is heard, and nothing else', async () => {
  const app = await listening(process.env.APP_SOUND);
  const { page } = app;
  const button = page.getByRole('button', { name: 'Mute' });
  await button.waitFor();
  const [loud, hertz] = loudest(await played(app, 94));
  assert.ok(loud > 0.1, `${loud}`);
  assert.ok(Math.abs(hertz - 440) < 10, `${hertz} Hz`);
  await button.click();
  await page.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
  assert.ok(loudest(await played(app, 94))[0] < 1e-4, 'muted');
  await page.keyboard.press('m');
  await page.getByRole('button', { name: 'Mute', pressed: false }).waitFor();
  assert.ok(loudest(await played(app, 94))[0] > 0.1, 'and not any more');
  await app.seek(30);
  await page.keyboard.press('o'); // it ends before the tone begins
  assert.ok(loudest(await played(app, 10))[0] < 0.01, 'the first half is silent');
  assert.deepEqual(app.complaints, []);
  await app.close();
});

test('a pause is silent at once', async () => {
  const app = await listening(process.env.APP_SOUND);
  const { page } = app;
  await app.seek(64);
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForFunction(() => window.heard.some(([loud]) => loud > 0.1));
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Play' }).waitFor();
  await page.waitForTimeout(300); // the ear's own memory; the sound that was handed over lasts longer
  await page.evaluate(() => window.heard.splice(0));
  await page.waitForFunction(() => window.heard.length > 5);
  assert.ok(loudest(await page.evaluate(() => window.heard))[0] < 1e-4);
  await app.close();
});

test('where there is no sound, there is no button for it', async () => {
  const app = await listening(process.env.APP_SILENT);
  assert.ok(await app.page.getByRole('button', { name: 'Mute' }).isHidden());
  await played(app, 0);
  assert.equal(await app.page.evaluate(() => window.heard.length), 0, 'no loudspeaker is opened');
  assert.deepEqual(app.complaints, []);
  await app.close();
});

test('both kinds of video are exported with the sound', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  await app.file(process.env.APP_SOUND);
  await app.seek(70);
  await page.keyboard.press('i');
  await app.seek(100);
  await page.keyboard.press('o');
  await app.drag([
    [0.1, 0.1],
    [0.9, 0.9],
  ]);
  await page.getByRole('banner').getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.getByLabel('All frames').check();
  await app.export('over', join(process.env.APP_OUT, 'heard.webm'));
  await app.begin('mp4'); // where the browser has an encoder
  const refused = dialog.getByRole('alert').getByText('cannot write H.264').waitFor({ timeout: 60_000 });
  const file = page.waitForEvent('download', { timeout: 60_000 });
  const made = await Promise.any([refused.then(() => null), file]);
  for (const rest of [refused, file]) rest.catch(() => undefined);
  await made?.saveAs(join(process.env.APP_OUT, 'heard.mp4'));
  assert.deepEqual(app.complaints, []);
  await app.close();
});
