/**
 * What is said where an object is lost. Needs the app's address in APP_URL, and in APP_LOST the path of a clip with sound, two
 * objects in its first four of sixteen frames and one in the others; their places in APP_TAPS, the one that goes first (a JSON list
 * of x, y from 0 to 1).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppPage, launched } from './page.mjs';

const { APP_URL, APP_LOST } = process.env;
const TAPS = JSON.parse(process.env.APP_TAPS);
const QUICK = `${APP_URL}?engine=wasm&size=288`;
const phone = (width, height) => ({ viewport: { width, height }, hasTouch: true, isMobile: true });
const PLACES = { desktop: {}, phone: phone(390, 844), small: phone(320, 568), sideways: phone(844, 390) };

let browser;
before(async () => (browser = await launched()));
after(() => browser.close());

for (const [place, options] of Object.entries(PLACES)) {
  test(`${place}: what is lost is named, in the lane, in the list, and in its frames`, async () => {
    const app = await AppPage.open(browser, QUICK, options);
    const { page } = app;
    await app.file(APP_LOST);
    await app.tap(...TAPS[0]);
    await page.keyboard.press('a');
    await app.tap(...TAPS[1]);
    await app.follow();
    const told = page.getByRole('alert').getByText(/^Object 1 is lost since frame 5\./);
    await told.waitFor();
    const box = (selector) => page.locator(selector).boundingBox();
    const line = await box('.timeline');
    const notice = await told.boundingBox();
    assert.ok(notice.y + notice.height <= line.y, 'what is said of the timeline does not lie on it');
    await page.getByRole('alert').getByRole('button', { name: 'Close' }).click();
    await page
      .getByRole('button', { name: 'Mark Object 1', pressed: true, includeHidden: true })
      .waitFor({ state: 'attached' });
    assert.match(await app.strip(), /; Object 1 is lost in frames 5 to 14$/);
    const check = page.getByRole('button', { name: '1 place to check' });
    assert.match(await check.getAttribute('title'), /^Object 1 is lost in frames 5 to 14\n/);
    const [left, right] = [await box('.transport .left'), await box('.transport .right')];
    assert.ok(left.x + left.width <= right.x, `${JSON.stringify({ left, right })}: neither lies on the other`);
    const lanes = await box('.confidence');
    const over = (frame, lane) =>
      page.mouse.move(lanes.x + ((frame - 0.5) / 16) * lanes.width, lanes.y + ((lane + 0.5) / 2) * lanes.height);
    const title = () => page.getByRole('slider', { name: 'Frame' }).getAttribute('title');
    await over(8, 0);
    assert.equal(await title(), 'Object 1 is lost in frames 5 to 14');
    await over(8, 1);
    assert.equal(await title(), '');
    await page.evaluate(() => document.querySelectorAll('.objects .pick')[1].click()); // also where it is in the sheet
    await page.keyboard.press('n');
    await page.waitForFunction(() => document.querySelector('.pace').textContent.startsWith('frame 5 of 16'));
    await page.getByText('Object 1 is lost here. Mark it again, unless it has left.').waitFor();
    await page
      .getByRole('button', { name: 'Mark Object 1', pressed: true, includeHidden: true })
      .waitFor({ state: 'attached' });
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Taps remove from the object' }).waitFor();
    const names = await page.locator('.toolbar button:visible span').all();
    const boxes = (await Promise.all(names.map((name) => name.boundingBox()))).filter(Boolean);
    for (const [i, { x, width, y }] of boxes.entries()) {
      const next = boxes[i + 1];
      if (next?.y === y) assert.ok(x + width + 1 <= next.x, 'the names of the tools stand apart');
    }
    assert.deepEqual(app.complaints, []);
    await app.close();
  });
}
