import { Network, SIZES } from './editor/network';
import type { Quality } from './editor/pace';
import { registerServiceWorker } from './pwa/register';
import { h, iconButton } from './ui/dom';
import { EditorScreen } from './ui/screen';
import { ICONS } from './ui/icons';
import { Notices } from './ui/notice';
import { helpDialog, listen, type Shortcut } from './ui/shortcuts';
import { acceptDrops, startScreen } from './ui/start';
import { toggleTheme } from './ui/theme';
import { CameraVideo } from './video/camera';
import { openVideo } from './video/open';
import { warningOf, type VideoSource } from './video/source';

registerServiceWorker();

/** `?size=480` fixes the working size, `?engine=wasm` leaves the graphics processor out: for tests and for trouble. */
const wishes = new URLSearchParams(location.search);
const size = SIZES.find((known) => String(known) === wishes.get('size'));
const quality: Quality = size ?? 'auto';

const notices = new Notices();
const network = new Network(wishes.get('engine') === 'wasm' ? 'wasm' : 'auto');
const editor = new EditorScreen(network, notices, quality);
let openings = 0;
const title = h('span', { class: 'title' });
const start = startScreen({
  file: (file) => void open(() => openVideo(file, file.name)),
  camera: () => void open(() => CameraVideo.open('environment')),
  sample: () => void open(sample),
});

const shortcuts: Shortcut[] = [
  ...editor.shortcuts(),
  { key: '?', text: 'This help', always: true, act: () => help.showModal() },
];
const help = helpDialog(shortcuts);
const again = h('button', { type: 'button', class: 'quiet', hidden: true, on: { click: () => void leave() } });
again.innerHTML = `${ICONS.open}<span>New video</span>`;
const logo = h('img', { src: './icons/icon.svg', alt: '', width: 28, height: 28 });
const bar = h(
  'header',
  { class: 'bar' },
  h('div', { class: 'brand' }, logo, h('b', {}, 'MobileVOS')),
  title,
  again,
  iconButton(ICONS.theme, 'Light or dark', '', toggleTheme),
  iconButton(ICONS.help, 'Help', '?', () => help.showModal()),
  editor.exportButton,
);
document.getElementById('app')!.append(bar, start, editor.element, editor.dialog, help, notices.element);
acceptDrops(document.body, (file) => void open(() => openVideo(file, file.name)));
listen(shortcuts, () => !editor.element.hidden);
document.addEventListener('visibilitychange', () => void (document.hidden && editor.hidden()));
window.addEventListener('beforeunload', (event) => {
  if (editor.unsaved) event.preventDefault();
});
// Loading begins at once, so that the first tap finds the network ready.
network.load().catch((error: unknown) => notices.error(error));

/** Of several videos chosen in a row, the last is opened, even if another takes longer to read. */
async function open(source: () => Promise<VideoSource>): Promise<void> {
  if (editor.unsaved && !confirm('Leave this video? What you have not exported is lost.')) return;
  const turn = ++openings;
  document.body.classList.add('opening');
  notices.clear();
  try {
    const video = await source();
    if (turn !== openings) return video.close();
    const warning = warningOf(video);
    if (warning) notices.say(warning);
    title.textContent = `${video.name} · ${video.width} x ${video.height}`;
    start.hidden = true;
    again.hidden = false;
    await editor.open(video);
  } catch (error) {
    if (turn === openings) notices.error(error);
  } finally {
    if (turn === openings) document.body.classList.remove('opening');
  }
}

async function sample(): Promise<VideoSource> {
  const response = await fetch(new URL('sample.mp4', document.baseURI));
  if (!response.ok) throw new Error('The sample cannot be loaded.');
  return openVideo(await response.blob(), 'Sample.mp4');
}

async function leave(): Promise<void> {
  if (editor.unsaved && !confirm('Leave this video? What you have not exported is lost.')) return;
  await editor.close();
  title.textContent = '';
  again.hidden = true;
  start.hidden = false;
}
