import type { Kept } from './editor/kept';
import { Network, SIZES } from './editor/network';
import type { Quality } from './editor/pace';
import { isProject, readProject } from './editor/project';
import { cards, discard, taken, type Card } from './editor/shelf';
import { keepForOffline, registerServiceWorker } from './pwa/register';
import { CameraScreen } from './ui/camera';
import { h, iconButton } from './ui/dom';
import { EditorScreen } from './ui/screen';
import { ICONS } from './ui/icons';
import { Notices } from './ui/notice';
import { helpDialog, listen, type Shortcut } from './ui/shortcuts';
import { acceptDrops, StartScreen, type Sample } from './ui/start';
import { toggleTheme } from './ui/theme';
import { openVideo } from './video/open';
import { VideoError, warningOf, type VideoSource } from './video/source';

registerServiceWorker();

/** `?size=480` fixes the working size, `?engine=wasm` leaves the graphics processor out: for tests and for trouble. */
const wishes = new URLSearchParams(location.search);
const size = SIZES.find((known) => String(known) === wishes.get('size'));
const quality: Quality = size ?? 'auto';

/** A video, and how far the work on it was, if it was begun before. */
interface Begun {
  source: VideoSource;
  kept?: Kept;
  /** What it is kept under on this device. */
  id?: string;
}

const notices = new Notices();
const network = new Network(wishes.get('engine') === 'wasm' ? 'wasm' : 'auto');
const editor = new EditorScreen(network, notices, quality);
let openings = 0;
const title = h('span', { class: 'title' });
const camera = new CameraScreen(
  (file) => openFile(file),
  (error) => notices.error(error),
);
const start = new StartScreen({
  file: openFile,
  camera: () => void camera.open(),
  sample: (chosen) => void open(() => sampled(chosen)),
  resume: (card) => void open(() => resumed(card)),
  discard: (card) => void discard(card.id).then(showKept),
});

const shortcuts: Shortcut[] = [
  ...editor.shortcuts(),
  { key: 'mod+s', text: 'Save a project', act: () => void editor.saveProject() },
  { key: '?', text: 'This help', always: true, act: () => help.showModal() },
];
const help = helpDialog(shortcuts);
const again = h('button', {
  type: 'button',
  class: 'quiet',
  'aria-label': 'New video',
  hidden: true,
  on: { click: () => void leave() },
});
again.innerHTML = `${ICONS.open}<span>New video</span>`;
const save = iconButton(ICONS.save, 'Save a project', 'Control+S', () => void editor.saveProject());
save.hidden = true;
const logo = h('img', { src: './icons/icon.svg', alt: '', width: 28, height: 28 });
const bar = h(
  'header',
  { class: 'bar' },
  h('div', { class: 'brand' }, logo, h('b', {}, 'MobileVOS')),
  title,
  again,
  save,
  iconButton(ICONS.theme, 'Light or dark', '', toggleTheme),
  iconButton(ICONS.help, 'Help', '?', () => help.showModal()),
  editor.exportButton,
);
document
  .getElementById('app')!
  .append(bar, start.element, editor.element, editor.dialog, camera.element, help, notices.element);
acceptDrops(document.body, openFile);
listen(shortcuts, () => !editor.element.hidden);
// A phone may end a page that is not in front without another word.
document.addEventListener('visibilitychange', () => void (document.hidden && editor.keep()));
window.addEventListener('beforeunload', (event) => {
  if (editor.unsaved) event.preventDefault();
});
// Loading begins at once, so that the first tap finds the network ready.
network
  .load()
  .then(() => keepForOffline(network.files))
  .catch((error: unknown) => notices.error(error));
void showKept();

function openFile(file: File): void {
  void open(async () => {
    if (!(await isProject(file))) return { source: await openVideo(file, file.name) };
    const { video, kept } = await readProject(file, file.name);
    return { source: await openVideo(video, kept.settings.name), kept };
  });
}

/** Of several videos chosen in a row, the last is opened, even if another takes longer to read. */
async function open(begun: () => Promise<Begun>): Promise<void> {
  await editor.keep();
  if (editor.unsaved && !confirm('Leave this video? It could not be kept, and what you have not exported is lost.'))
    return;
  const turn = ++openings;
  document.body.classList.add('opening');
  notices.clear();
  try {
    const { source, kept, id } = await begun();
    if (turn !== openings) return source.close();
    const warning = warningOf(source);
    if (warning) notices.say(warning);
    title.textContent = `${source.name} · ${source.width} x ${source.height}`;
    start.element.hidden = true;
    again.hidden = save.hidden = false;
    await editor.open(source, kept, id);
  } catch (error) {
    if (turn === openings) notices.error(error);
  } finally {
    if (turn === openings) document.body.classList.remove('opening');
  }
}

async function sampled({ file, title }: Sample): Promise<Begun> {
  const response = await fetch(new URL(`${file}.mp4`, document.baseURI)).catch(() => null);
  if (!response?.ok) throw new VideoError(`“${title}” cannot be loaded. Is there a network?`);
  return { source: await openVideo(await response.blob(), `${title}.mp4`) };
}

async function resumed(card: Card): Promise<Begun> {
  const found = await taken(card);
  if (!found) {
    await discard(card.id);
    await showKept();
    throw new VideoError(`The browser has cleared the video of “${card.settings.name}”, so it cannot be gone on with.`);
  }
  return { source: await openVideo(found.video, card.settings.name), kept: found.kept, id: card.id };
}

/** What can be gone on with. */
async function showKept(): Promise<void> {
  start.show(await cards().catch(() => [])); // a private window keeps nothing
}

async function leave(): Promise<void> {
  await editor.keep();
  if (editor.unsaved && !confirm('Leave this video? It could not be kept, and what you have not exported is lost.'))
    return;
  await editor.close();
  title.textContent = '';
  again.hidden = save.hidden = true;
  start.element.hidden = false;
  await showKept();
}
