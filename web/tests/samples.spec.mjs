/**
 * The clips to try. Needs the app's address in APP_URL, for each of them its name, file and a box around each of its
 * objects in APP_SAMPLES (a JSON list of { title, file, boxes: [[left, top], [right, bottom]] }), and a folder in APP_OUT for the masks.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { AppPage, launched } from './page.mjs';

const { APP_URL, APP_OUT } = process.env;
const SAMPLES = JSON.parse(process.env.APP_SAMPLES);

let browser;
before(async () => (browser = await launched()));
after(() => browser.close());

test('each is offered, is fetched when it is asked for, and can be followed', async () => {
  const app = await AppPage.open(browser, 'about:blank', { serviceWorkers: 'block' });
  const fetched = [];
  app.page.on('request', (request) => fetched.push(new URL(request.url()).pathname.slice(1)));
  await app.page.goto(`${APP_URL}?engine=wasm&size=288`);
  const offered = app.page.getByRole('region', { name: 'Samples' });
  assert.equal(await offered.getByRole('button').count(), SAMPLES.length);
  await app.page.waitForLoadState('networkidle');
  const clips = () => fetched.filter((path) => path.endsWith('.mp4'));
  assert.deepEqual(clips(), []);
  for (const { title, file, boxes } of SAMPLES) {
    await app.sample(title);
    assert.deepEqual(clips(), [`${file}.mp4`]);
    for (const [i, box] of boxes.entries()) {
      if (i) await app.page.keyboard.press('a');
      await app.drag(box);
    }
    await app.follow();
    await app.export('masks', join(APP_OUT, `${file}.zip`));
    await app.page.keyboard.press('Escape');
    await app.page.getByRole('button', { name: 'New video' }).click();
    fetched.length = 0;
  }
  assert.deepEqual(app.complaints, []);
  await app.close();
});
