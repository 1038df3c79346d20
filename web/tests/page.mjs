/** The app in a browser, as a person uses it. */
import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';

/** The Chromium named by the environment variable CHROMIUM, else the one on the path. */
export async function launched(...args) {
  const executablePath = execFileSync('which', [process.env.CHROMIUM ?? 'chromium'], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}

export class AppPage {
  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
    this.complaints = [];
    page.on('pageerror', (error) => this.complaints.push(error.message));
  }

  /** A page of its own context; `options` go to the context. */
  static async open(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const app = new AppPage(await context.newPage());
    // A test cannot answer the system's own dialog; without it files are downloaded.
    await app.page.addInitScript(() => delete window.showSaveFilePicker);
    await app.page.goto(url);
    return app;
  }

  async sample(name = 'Three at once') {
    await this.page.getByRole('region', { name: 'Samples' }).getByRole('button', { name }).click();
    await this.opened();
  }

  async file(path) {
    await this.page.getByLabel('Video file').setInputFiles(path);
    await this.opened();
  }

  async opened() {
    await this.page.locator('.editor').waitFor();
    await this.page.waitForFunction(() => document.querySelector('.pace').textContent.startsWith('frame'));
    await this.idle();
  }

  /** Until nothing is being computed. */
  async idle() {
    await this.page.waitForFunction(() => document.querySelector('.editor').dataset.busy === '', null, {
      timeout: 90_000,
    });
  }

  /** Where a point of the video is on the screen; x and y from 0 to 1. */
  async at(x, y) {
    const box = await this.page.locator('.marks').boundingBox();
    return [box.x + x * box.width, box.y + y * box.height];
  }

  async tap(x, y, button = 'left') {
    await this.page.mouse.click(...(await this.at(x, y)), { button });
    await this.idle();
  }

  async touch(x, y) {
    await this.page.touchscreen.tap(...(await this.at(x, y)));
    await this.idle();
  }

  async drag(points) {
    const [first, ...rest] = await Promise.all(points.map(([x, y]) => this.at(x, y)));
    await this.page.mouse.move(...first);
    await this.page.mouse.down();
    for (const point of rest) await this.page.mouse.move(...point, { steps: 4 });
    await this.page.mouse.up();
    await this.idle();
  }

  async follow(name = 'Follow') {
    // Waited for from before: a few frames may be followed while the click still returns.
    const begun = this.page.waitForFunction(() => document.querySelector('.editor').dataset.busy === 'tracking');
    await Promise.all([begun, this.page.getByRole('button', { name, exact: true }).click()]);
    await this.idle();
  }

  async seek(frame) {
    await this.page.getByRole('slider', { name: 'Frame' }).fill(String(frame));
    await this.page.waitForFunction(
      (text) => document.querySelector('.pace').textContent.startsWith(text),
      `frame ${frame + 1} of`,
    );
  }

  /** What the strip says, for instance "31 of 31 frames followed; ...". */
  strip() {
    return this.page.locator('.confidence').getAttribute('aria-label');
  }

  /** Pixels of the shown frame, a number for each that differs from the frame without masks: how much is marked. */
  async marked() {
    return this.page.evaluate(() => {
      const canvas = document.querySelector('canvas.view');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let sum = 0;
      for (let i = 0; i < data.length; i += 4) sum += data[i] * 3 + data[i + 1] * 5 + data[i + 2] * 7;
      return sum;
    });
  }

  /** Choose a format in the dialog and keep what is downloaded. */
  async export(format, path) {
    const download = this.page.waitForEvent('download', { timeout: 180_000 });
    await this.begin(format);
    await (await download).saveAs(path);
    await this.page.locator('.working.done').waitFor();
  }

  /** Begin to export. */
  async begin(format) {
    const dialog = this.page.getByRole('dialog', { name: 'Export' });
    if (!(await dialog.isVisible()))
      await this.page.getByRole('banner').getByRole('button', { name: 'Export' }).click();
    await dialog.locator(`[data-format=${format}]`).click();
    await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  }

  /** Until the session is kept on the device. */
  async kept() {
    await this.page.waitForFunction(
      () =>
        new Promise((resolve) => {
          const event = new Event('beforeunload', { cancelable: true });
          window.dispatchEvent(event);
          resolve(!event.defaultPrevented);
        }),
    );
  }

  close() {
    return this.page.context().close();
  }
}
