/** The first screen: what it does, what was begun, and how to begin. */
import type { Card } from '../editor/shelf';
import { h, iconButton } from './dom';
import { ICONS } from './icons';

/** A clip to try: a file beside the page, and a picture of it in `demo`. */
export interface Sample {
  file: string;
  title: string;
  about: string;
}

const SAMPLES: readonly Sample[] = [
  { file: 'sample', title: 'Three at once', about: 'A fish, a star and a turtle' },
  { file: 'sample-meet', title: 'Two that meet', about: 'Upright, and one hides the other' },
  { file: 'sample-small', title: 'Small and quick', about: 'A fish that shoots through the picture' },
];

export interface StartActions {
  file(file: File): void;
  camera(): void;
  sample(sample: Sample): void;
  /** Go on with a session that was kept. */
  resume(card: Card): void;
  discard(card: Card): void;
}

export class StartScreen {
  readonly element: HTMLElement;
  private readonly shelf = h('section', { class: 'shelf', 'aria-label': 'Kept on this device', hidden: true });
  private pictures: string[] = [];

  constructor(private readonly actions: StartActions) {
    const input = h('input', {
      type: 'file',
      accept: 'video/*,.mkv,.mov,.mobilevos',
      hidden: true,
      'aria-label': 'Video file',
    });
    input.addEventListener('change', () => {
      const file = input.files?.[0];
      input.value = '';
      if (file) actions.file(file);
    });
    const drop = h(
      'div',
      { class: 'drop' },
      h('h1', {}, 'Mark an object once. ', h('em', {}, 'It is followed through the video.')),
      h(
        'p',
        { class: 'lead' },
        'Cut people, animals and things out of any clip, blur them, or change what is behind them.',
      ),
      demonstration(),
      h(
        'div',
        { class: 'ways' },
        button(ICONS.open, 'Choose a video', () => input.click(), 'primary large'),
        button(ICONS.camera, 'Use the camera', actions.camera, 'secondary large'),
      ),
      h('p', { class: 'or' }, 'or drop a video or a project anywhere on this page'),
      input,
    );
    const samples = h(
      'section',
      { class: 'samples', 'aria-label': 'Samples' },
      h('h2', {}, 'Nothing at hand? Try one of these'),
      h('div', {}, ...SAMPLES.map((sample) => sampleCard(sample, () => actions.sample(sample)))),
    );
    const promise = h('p', { class: 'promise' });
    promise.innerHTML = `${ICONS.lock}<span>Nothing leaves this device. No account, no upload, also offline.</span>`;
    this.element = h('main', { class: 'start' }, this.shelf, drop, samples, promise);
  }

  /** What was begun before. */
  show(cards: Card[]): void {
    for (const url of this.pictures) URL.revokeObjectURL(url);
    this.pictures = [];
    this.shelf.hidden = !cards.length;
    this.shelf.replaceChildren(h('h2', {}, 'Go on where you were?'), ...cards.map((card) => this.card(card)));
  }

  private card(card: Card): HTMLElement {
    const { name, frames, objects } = card.settings;
    const picture = h('img', { alt: '' });
    if (card.picture) {
      picture.src = URL.createObjectURL(card.picture);
      this.pictures.push(picture.src);
    }
    const things = objects.length === 1 ? objects[0].name : `${objects.length} objects`;
    return h(
      'div',
      { class: 'kept' },
      h(
        'button',
        { type: 'button', class: 'resume', on: { click: () => this.actions.resume(card) } },
        picture,
        h(
          'span',
          {},
          h('strong', {}, name),
          h('small', {}, `${things}, ${card.followed} of ${frames} frames, ${ago(card.saved)}`),
        ),
        h('b', {}, 'Go on'),
      ),
      iconButton(ICONS.trash, `Discard ${name}`, '', () => this.actions.discard(card)),
    );
  }
}

/** A wipe from a picture to what becomes of it, again and again. */
function demonstration(): HTMLElement {
  const picture = (name: string, alt: string) =>
    h('img', { src: `./demo/${name}.webp`, alt, width: 640, height: 270, class: name, decoding: 'async' });
  return h(
    'figure',
    { class: 'demo' },
    picture('before', 'A star, a fish and a turtle in the sea'),
    h('div', { class: 'wipe' }, picture('after', 'The same, with the fish cut out of it')),
  );
}

function sampleCard({ file, title, about }: Sample, act: () => void): HTMLElement {
  return h(
    'button',
    { type: 'button', class: 'sample', on: { click: act } },
    h('img', { src: `./demo/${file}.webp`, alt: '', width: 264, height: 148, decoding: 'async' }),
    h('span', {}, h('strong', {}, title), h('small', {}, about)),
  );
}

function button(icon: string, text: string, act: () => void, className: string): HTMLButtonElement {
  const element = h('button', { type: 'button', class: className, on: { click: act } });
  element.innerHTML = `${icon}<span>${text}</span>`;
  return element;
}

function ago(time: number): string {
  const minutes = Math.round((Date.now() - time) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 36 * 60) return `${Math.round(minutes / 60)} h ago`;
  return new Date(time).toLocaleDateString();
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
