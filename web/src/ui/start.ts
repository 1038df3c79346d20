/** The first screen: choose a video. */
import { h } from './dom';
import { ICONS } from './icons';

export interface StartActions {
  file(file: File): void;
  camera(): void;
  sample(): void;
}

export function startScreen(actions: StartActions): HTMLElement {
  const input = h('input', { type: 'file', accept: 'video/*,.mkv,.mov', hidden: true, 'aria-label': 'Video file' });
  input.addEventListener('change', () => {
    const file = input.files?.[0];
    input.value = '';
    if (file) actions.file(file);
  });
  const button = (icon: string, text: string, act: () => void, className: string) => {
    const element = h('button', { type: 'button', class: className, on: { click: act } });
    element.innerHTML = `${icon}<span>${text}</span>`;
    return element;
  };
  const drop = h(
    'div',
    { class: 'drop' },
    h('h1', {}, 'Mark an object once. ', h('em', {}, 'It is followed through the video.')),
    h(
      'p',
      { class: 'lead' },
      'Cut people, animals and things out of any clip. Right here in the browser, also offline.',
    ),
    h(
      'div',
      { class: 'ways' },
      button(ICONS.open, 'Choose a video', () => input.click(), 'primary large'),
      button(ICONS.camera, 'Use the camera', actions.camera, 'secondary large'),
      button(ICONS.sample, 'Try the sample', actions.sample, 'secondary large'),
    ),
    h('p', { class: 'or' }, 'or drop a video anywhere on this page'),
    input,
  );
  const promise = h('p', { class: 'promise' });
  promise.innerHTML = `${ICONS.lock}<span>Nothing leaves this device. No account, no upload, no tracking of you.</span>`;
  return h('main', { class: 'start' }, drop, promise);
}

/** A video dropped anywhere on the page. */
export function acceptDrops(page: HTMLElement, open: (file: File) => void): void {
  page.addEventListener('dragover', (event) => {
    event.preventDefault();
    page.classList.add('dropping');
  });
  page.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) page.classList.remove('dropping');
  });
  page.addEventListener('drop', (event) => {
    event.preventDefault();
    page.classList.remove('dropping');
    const file = event.dataTransfer?.files[0];
    if (file) open(file);
  });
}
