/**
 * The bar beside the object, and the app on phones. Needs the app's address in APP_URL, clips in APP_CLIPS (a JSON list of
 * { name, path, tap: [x, y] from 0 to 1 }), the same for an upright one in APP_UPRIGHT, and a folder in APP_OUT for where the
 * bar was and what was marked.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppPage, launched } from './page.mjs';

const { APP_URL, APP_OUT } = process.env;
const QUICK = `${APP_URL}?engine=wasm&size=288`;
const CLIPS = JSON.parse(process.env.APP_CLIPS);
const UPRIGHT = JSON.parse(process.env.APP_UPRIGHT);
const phone = (width, height) => ({ viewport: { width, height }, hasTouch: true, isMobile: true });
const PLACES = { desktop: {}, phone: phone(390, 844), small: phone(320, 568), sideways: phone(844, 390) };

let browser;
before(async () => (browser = await launched()));
after(() => browser.close());

const bar = (app) => app.page.locator('.object-bar');
const inside = (a, b) =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width + 0.5 && a.y + a.height <= b.y + b.height + 0.5;
const apart = (a, b) =>
  a.x + a.width <= b.x + 0.5 ||
  b.x + b.width <= a.x + 0.5 ||
  a.y + a.height <= b.y + 0.5 ||
  b.y + b.height <= a.y + 0.5;

for (const { name, path, tap } of CLIPS) {
  test(`${name}: the bar is beside the object, inside the picture, under nothing`, async () => {
    const found = {};
    for (const [place, options] of Object.entries(PLACES)) {
      const app = await AppPage.open(browser, QUICK, options);
      await app.file(path);
      assert.ok(await bar(app).isHidden(), 'nothing is marked yet');
      if (place === 'desktop') await app.tap(...tap);
      else await app.touch(...tap);
      await bar(app).waitFor();
      await app.page.mouse.move(1, 1);
      await app.page.waitForTimeout(100);
      const picture = await app.page.locator('.frame').boundingBox();
      const box = await bar(app).boundingBox();
      assert.ok(inside(box, picture), `${place}: ${JSON.stringify({ box, picture })}`);
      for (const button of await bar(app).getByRole('button').all()) {
        const { x, y, width, height } = await button.boundingBox();
        assert.ok(width >= 44 && height >= 44, `${width} x ${height}`);
        const hit = ([u, v]) => document.elementFromPoint(u, v)?.closest('button')?.getAttribute('aria-label');
        const named = await button.getAttribute('aria-label');
        assert.equal(await app.page.evaluate(hit, [x + width / 2, y + height / 2]), named, 'nothing lies over it');
      }
      found[place] = [box.x - picture.x, box.y - picture.y, box.width, box.height].map(
        (value, i) => value / (i % 2 ? picture.height : picture.width),
      );
      await app.page.getByRole('button', { name: 'Next frame' }).click();
      await bar(app).waitFor({ state: 'hidden' }); // there is no object here yet
      await app.export('masks', join(APP_OUT, `${name}-${place}.zip`));
      assert.deepEqual(app.complaints, []);
      await app.close();
    }
    writeFileSync(join(APP_OUT, `${name}-bar.json`), JSON.stringify(found));
  });
}

test('the bar: by keys and by mouse, and out of the way of a drag', async () => {
  const app = await AppPage.open(browser, QUICK);
  const { page } = app;
  const [{ path, tap }] = CLIPS;
  await app.file(path);
  await app.tap(...tap);
  await bar(app).waitFor();
  const whole = await app.marked();
  await page.locator('.marks').focus();
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Taps add to Object 1');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Taps remove from Object 1', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Taps remove from the object' }).waitFor(); // the tool says so, too
  const box = await bar(app).boundingBox();
  const [x, y] = await app.at(tap[0], tap[1]);
  await app.tap(tap[0] + 0.02, tap[1]);
  assert.notEqual(await app.marked(), whole, 'a tap takes away');
  await page.keyboard.press('z');
  await page.keyboard.press('x');
  await bar(app).waitFor();
  const over = await bar(app).boundingBox();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(over.x + 20, over.y + 20, { steps: 4 });
  assert.equal(await bar(app).evaluate((e) => getComputedStyle(e).visibility), 'hidden');
  assert.ok(box.width > 100);
  await page.mouse.up();
  await app.idle();
  await bar(app).waitFor();
  const before = Number(await page.locator('.scrub').inputValue());
  await bar(app).getByRole('button', { name: 'Taps add to Object 1' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'Follow from here');
  await page.keyboard.press('Enter');
  await page.waitForFunction((from) => Number(document.querySelector('.scrub').value) > from, before);
  assert.match(await focused(), /^(Stop|Follow)/, 'the focus stays with what was begun');
  await app.idle();
  await page.keyboard.press('p');
  await bar(app).waitFor({ state: 'hidden' }); // a stroke may begin there
  assert.deepEqual(app.complaints, []);
  await app.close();
});

for (const place of ['phone', 'small']) {
  test(`${place}: most of the height is the picture, tools are in a row below, the rest is in a sheet`, async () => {
    const app = await AppPage.open(browser, QUICK, PLACES[place]);
    const { page } = app;
    const screen = PLACES[place].viewport;
    await app.file(UPRIGHT.path);
    await app.touch(...UPRIGHT.tap);
    const box = (selector) => page.locator(selector).boundingBox();
    const picture = await box('.frame');
    assert.ok(picture.height >= 0.6 * screen.height, `${picture.height} of ${screen.height}`);
    const tools = await Promise.all((await page.locator('.toolbar button:visible').all()).map((b) => b.boundingBox()));
    assert.ok(tools.length >= 7);
    for (const tool of tools) {
      assert.ok(tool.width >= 44 && tool.height >= 44, JSON.stringify(tool));
      assert.equal(tool.y, tools[0].y, 'one row');
      assert.ok(tool.x >= 0 && tool.x + tool.width <= screen.width);
    }
    assert.ok(tools[0].y > 0.85 * screen.height, 'under the thumb');
    const parts = await Promise.all(['.bar', '.frame', '.timeline', '.transport .middle', '.toolbar'].map(box));
    for (const [i, part] of parts.entries()) {
      assert.ok(inside(part, { x: 0, y: 0, ...screen }), JSON.stringify(part));
      for (const other of parts.slice(i + 1)) assert.ok(apart(part, other), JSON.stringify([part, other]));
    }
    await sheet(app, screen);
    const { height, y } = await page.locator('.panel').boundingBox();
    assert.ok(y + height >= screen.height - 1 && y >= 0.3 * screen.height, 'at the bottom, the picture still seen');
    await page.getByRole('button', { name: 'End here' }).tap();
    await page.getByRole('button', { name: 'New object' }).tap();
    await page.locator('.panel').waitFor({ state: 'hidden' }); // to mark it
    await page.waitForFunction(() => document.querySelectorAll('.objects .pick').length === 2);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), screen.width);
    await page.keyboard.press('p');
    const size = await page.getByRole('slider', { name: 'Brush size' }).boundingBox();
    assert.ok(size.width >= 120 && size.height >= 44, JSON.stringify(size));
    await app.close();
  });
}

for (const [place, options] of Object.entries(PLACES)) {
  test(`${place}: the in and out points are large enough for a thumb, and leave the pictures to scrub`, async () => {
    const app = await AppPage.open(browser, QUICK, options);
    const { page } = app;
    const screen = options.viewport ?? { width: 1280, height: 800 };
    await app.file(CLIPS[0].path);
    const line = await page.locator('.timeline').boundingBox();
    const middle = line.y + 12;
    const at = ([x, y]) => document.elementFromPoint(x, y)?.getAttribute('aria-label');
    for (const name of ['In point', 'Out point']) {
      const box = await page.getByRole('slider', { name }).boundingBox();
      assert.ok(box.width >= 44 && box.height >= 44, `${name}: ${box.width} x ${box.height}`);
      assert.ok(inside(box, { x: 0, y: 0, ...screen }), JSON.stringify(box));
      for (const x of [box.x + 1, box.x + box.width - 1]) {
        for (const y of [box.y + 1, box.y + box.height - 1]) {
          assert.equal(await page.evaluate(at, [x, y]), name, 'all of it is in reach');
        }
      }
    }
    assert.equal(await page.evaluate(at, [line.x + 24, middle]), 'Frame', 'it is scrubbed beside them');
    const value = (name) => page.getByRole('slider', { name }).getAttribute('aria-valuenow');
    const shown = (frame) => page.getByText(`frame ${frame} of 8`).waitFor({ state: 'attached' });
    await page.mouse.click(line.x + line.width - 2, middle);
    await shown(8); // a tap goes where it looks
    assert.equal(await value('Out point'), '8');
    // Taken beside where it stands, and moved by a quarter of the pictures.
    for (const [name, x, by, then] of [
      ['In point', line.x - 10, 0.25, '3'],
      ['Out point', line.x + line.width + 10, -0.25, '6'],
    ]) {
      await page.mouse.move(x, middle);
      await page.mouse.down();
      await page.mouse.move(x + by * line.width, middle, { steps: 4 });
      await page.mouse.up();
      assert.equal(await value(name), then);
    }
    assert.deepEqual(app.complaints, []);
    await app.close();
  });
}

test('sideways: tools at the side, the timeline over the picture, the panel in reach', async () => {
  const screen = PLACES.sideways.viewport;
  const app = await AppPage.open(browser, QUICK, PLACES.sideways);
  const { page } = app;
  await app.file(CLIPS[0].path);
  await app.touch(...CLIPS[0].tap);
  const box = (selector) => page.locator(selector).boundingBox();
  const [picture, line, tools] = [await box('.frame'), await box('.timeline'), await box('.toolbar')];
  assert.ok(picture.height >= 0.8 * screen.height, `${picture.height} of ${screen.height}`);
  assert.ok(!apart(picture, line) && line.y + line.height <= screen.height);
  const [u, v] = await app.at(0.5, 0.88);
  const under = await page.evaluate(([x, y]) => document.elementFromPoint(x, y).className, [u, v]);
  assert.match(under, /marks/, 'what is low in the picture can be marked');
  assert.ok(tools.x < 10 && tools.width < 70 && apart(tools, picture));
  for (const button of await page.locator('.toolbar button:visible').all()) {
    const tool = await button.boundingBox();
    assert.ok(tool.width >= 44 && tool.height >= 44 && tool.y + tool.height <= screen.height, JSON.stringify(tool));
  }
  await sheet(app, screen);
  const panel = await box('.panel');
  assert.ok(panel.x > 0.3 * screen.width && panel.x + panel.width >= screen.width - 1);
  assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), screen.height);
  await app.close();
});

/** Open the sheet, use it, close it in each way, and open it again. */
async function sheet(app, screen) {
  const { page } = app;
  const [panel, more] = [page.locator('.panel'), page.getByRole('button', { name: 'More' })];
  assert.ok(await panel.isHidden());
  await more.tap();
  assert.equal(await more.getAttribute('aria-expanded'), 'true');
  assert.ok(inside(await panel.boundingBox(), { x: 0, y: 0, ...screen }));
  for (const name of ['Result', 'Overlay']) await page.getByRole('radio', { name }).tap();
  await page.getByLabel('Quality').scrollIntoViewIfNeeded();
  assert.ok(inside(await page.getByLabel('Quality').boundingBox(), await panel.boundingBox()), 'all of it is reached');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'hidden' });
  await more.tap();
  const marked = await app.marked();
  await page.touchscreen.tap(...(await app.at(0.1, 0.1))); // beside it: closes it, and marks nothing
  await panel.waitFor({ state: 'hidden' });
  assert.equal(await app.marked(), marked);
  await more.tap();
}
