/** Every state of the app as a picture: screenshots.mjs URL FOLDER CAMERA.y4m. See screenshots.py, which calls it. */
import { join } from 'node:path';
import { AppPage, launched } from '../tests/page.mjs';

const [url, folder, scene] = process.argv.slice(2);
const DESKTOP = { viewport: { width: 1120, height: 700 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const [STAR, FISH, TURTLE] = [
  [0.27, 0.22],
  [0.75, 0.31],
  [0.51, 0.72],
];

const browser = await launched(
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  `--use-file-for-fake-video-capture=${scene}`,
);
const opened = (options, colorScheme) =>
  AppPage.open(browser, `${url}?engine=wasm&size=288`, { ...options, colorScheme });
const shot = async (app, name) => {
  await app.page.mouse.move(5, 5);
  await app.page.waitForTimeout(1200); // results are drawn by a worker
  await app.page.screenshot({ path: join(folder, `${name}.png`) });
};

const light = await opened(DESKTOP, 'light');
await shot(light, 'start-light');
await light.page.getByRole('button', { name: 'Help' }).click();
await shot(light, 'help');
await light.page.keyboard.press('Escape');
await light.page
  .getByLabel('Video file')
  .setInputFiles({ name: 'notes.mp4', mimeType: 'video/mp4', buffer: Buffer.from('x') });
await light.page.getByRole('alert').getByText('cannot read').waitFor();
await shot(light, 'error');
await light.sample();
await light.page.keyboard.press('b');
await light.drag([
  [0.15, 0.02],
  [0.42, 0.46],
]);
await shot(light, 'box-light');
await light.close();

const app = await opened(DESKTOP, 'dark');
await shot(app, 'start-dark');
await app.sample();
await app.page.waitForFunction(() => !document.querySelector('.about').textContent.includes('loading'));
await shot(app, 'opened');
await app.tap(...STAR);
await shot(app, 'tapped');
for (const place of [FISH, TURTLE]) {
  await app.page.keyboard.press('a');
  await app.tap(...place);
}
await app.page.getByRole('button', { name: 'Follow', exact: true }).click();
await app.page.waitForFunction(() => document.querySelector('.scrub').value >= 20);
await shot(app, 'following');
await app.idle();
await app.page.keyboard.press('n');
await shot(app, 'doubtful');
await app.seek(24);
await app.page.getByRole('radio', { name: 'Result' }).click();
await shot(app, 'cutout');
const behind = app.page.locator('.panel').getByRole('radiogroup', { name: 'Background' });
await behind.getByRole('radio', { name: 'Blur' }).click();
await shot(app, 'blur');
await app.page.getByRole('radio', { name: 'Before / after' }).click();
await behind.getByRole('radio', { name: 'None' }).click();
await shot(app, 'compare');
await app.page.getByRole('button', { name: 'Export' }).click();
await shot(app, 'export');
await app.close();

const phone = await opened(PHONE, 'dark');
await shot(phone, 'phone-start');
await phone.sample();
await phone.touch(...FISH);
await shot(phone, 'phone-tapped');
await phone.follow();
await phone.seek(30);
await shot(phone, 'phone-followed');
await phone.page.getByRole('button', { name: 'Export' }).tap();
await shot(phone, 'phone-export');
await phone.close();

const camera = await opened(DESKTOP, 'dark');
await camera.page.getByRole('button', { name: 'Use the camera' }).click();
await camera.page.getByRole('dialog', { name: 'Camera' }).waitFor();
await shot(camera, 'camera');
await browser.close();
