/**
 * How free the page is while a 4K video is exported: the longest task of its main thread, and the time a frame takes.
 *
 *     .venv/bin/mobilevos app --no-browser --port 8765 &
 *     node web/bench/export.mjs http://127.0.0.1:8765/ VIDEO [FORMAT]
 *
 * The object is whatever is in the middle of the first frame; frames that are not followed are exported without it.
 */
import { AppPage, launched } from '../tests/page.mjs';

const [url, video, format = 'over'] = process.argv.slice(2);
const browser = await launched();
const app = await AppPage.open(browser, `${url}?engine=wasm&size=288`);
const { page } = app;
await app.file(video);
await app.tap(0.5, 0.5);
await page.getByRole('banner').getByRole('button', { name: 'Export' }).click();
await page.locator(`[data-format=${format}]`).click();
await page.getByRole('dialog').getByLabel('All frames').check();
await page.evaluate(() => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: 'longtask',
  });
});
const download = page.waitForEvent('download', { timeout: 600_000 });
const began = performance.now();
await app.begin(format);
await download;
const seconds = (performance.now() - began) / 1000;
const tasks = await page.evaluate(() => window.tasks);
const frames = Number((await page.locator('.confidence').getAttribute('aria-label')).match(/of (\d+)/)[1]);
const report = {
  frames,
  secondsAFrame: Number((seconds / frames).toFixed(2)),
  longTasks: tasks.length,
  longestMs: Math.round(Math.max(0, ...tasks)),
  over200ms: tasks.filter((ms) => ms > 200).length,
};
console.log(JSON.stringify(report, null, 2));
await browser.close();
