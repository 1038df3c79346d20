/** Every state of the app as a picture: screenshots.mjs URL FOLDER CAMERA.y4m SOUND.mp4. See screenshots.py, which calls it. */
import { join } from 'node:path';
import { AppPage, launched } from '../tests/page.mjs';

const [url, folder, scene, loud] = process.argv.slice(2);
const DESKTOP = { viewport: { width: 1120, height: 700 } };
const phoneOf = (width, height) => ({ viewport: { width, height }, hasTouch: true, isMobile: true });
const [PHONE, SMALL, SIDEWAYS] = [phoneOf(390, 844), phoneOf(320, 568), phoneOf(844, 390)];
const [STAR, FISH, TURTLE] = [
  [0.27, 0.22],
  [0.75, 0.31],
  [0.51, 0.72],
];
/** In the upright sample. */
const [ABOVE, BELOW] = [
  [0.5, 0.25],
  [0.52, 0.72],
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
await app.page.keyboard.press('x');
await shot(app, 'removing');
await app.page.keyboard.press('x');
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

const quick = await opened(DESKTOP, 'dark');
await quick.sample('Small and quick');
await quick.drag([
  [0.01, 0.25],
  [0.16, 0.45],
]);
await quick.follow();
await quick.seek(14);
await shot(quick, 'small');
await quick.page.getByRole('button', { name: 'New video' }).click();
await shot(quick, 'kept');
await quick.file(loud);
await quick.page.keyboard.press('m');
await shot(quick, 'sound');
await quick.close();

const phone = await opened(PHONE, 'dark');
await shot(phone, 'phone-start');
await phone.sample('Two that meet');
await phone.touch(...ABOVE);
await shot(phone, 'phone-tapped');
await phone.page.getByRole('button', { name: 'More' }).tap();
await shot(phone, 'phone-sheet');
await phone.page.getByRole('button', { name: 'New object' }).tap();
await phone.touch(...BELOW);
await phone.follow();
await phone.seek(30);
await shot(phone, 'phone-followed');
await phone.page.getByRole('button', { name: 'Brush' }).tap();
await shot(phone, 'phone-brush');
await phone.page.getByRole('button', { name: 'Export' }).tap();
await shot(phone, 'phone-export');
await phone.close();

const small = await opened(SMALL, 'light');
await shot(small, 'phone-small-start');
await small.sample();
await small.touch(...FISH);
await shot(small, 'phone-small');
await small.close();

const sideways = await opened(SIDEWAYS, 'dark');
await shot(sideways, 'sideways-start');
await sideways.sample();
await sideways.touch(...TURTLE);
await sideways.follow();
await sideways.seek(24);
await shot(sideways, 'sideways');
await sideways.page.getByRole('button', { name: 'More' }).tap();
await shot(sideways, 'sideways-panel');
await sideways.close();

const camera = await opened(DESKTOP, 'dark');
await camera.page.getByRole('button', { name: 'Use the camera' }).click();
await camera.page.getByRole('dialog', { name: 'Camera' }).waitFor();
await shot(camera, 'camera');
await browser.close();
