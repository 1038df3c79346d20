/** What is made of the pictures: what is behind the objects, what becomes of them, and a line around them. */
import type { Background, Disguise, Look } from '../export/types';
import { choice, h } from './dom';

type Kind = Exclude<Background['kind'], 'matte'>;
type Chosen<K extends string> = { element: HTMLElement; set(value: K): void };

const BACKGROUNDS: { value: Kind; text: string; hint?: string }[] = [
  { value: 'transparent', text: 'None' },
  { value: 'scene', text: 'Keep', hint: 'The background as it was' },
  { value: 'color', text: 'Colour' },
  { value: 'blur', text: 'Blur' },
  { value: 'pixels', text: 'Pixels' },
  { value: 'grey', text: 'Grey' },
  { value: 'image', text: 'Picture' },
];
const OBJECTS: { value: Disguise['kind']; text: string }[] = [
  { value: 'plain', text: 'As it is' },
  { value: 'blur', text: 'Blur' },
  { value: 'pixels', text: 'Pixels' },
];

/** Effects as parts of the short side of the video, so that they look alike at every size. */
const BLUR = 1 / 36;
const HIDING = 1 / 22;
const SQUARE = 1 / 30;
const LINE = 1 / 150;

/** Two of these show the same look: beside the picture, and in the dialog. */
export class LookPicker {
  readonly element: HTMLElement;
  private readonly kinds: Chosen<Kind>;
  private readonly objects: Chosen<Disguise['kind']>;
  private readonly color = h('input', { type: 'color', value: '#00b140', 'aria-label': 'Background colour' });
  private readonly lined = h('input', { type: 'checkbox', 'aria-label': 'Outline' });
  private readonly line = h('input', { type: 'color', value: '#ffffff', 'aria-label': 'Colour of the line' });
  private readonly file = h('input', {
    type: 'file',
    accept: 'image/*',
    hidden: true,
    'aria-label': 'Background picture',
  });
  private look: Look = { background: { kind: 'transparent' }, object: { kind: 'plain' }, outline: null };
  private short = 480;

  constructor(
    private readonly change: (look: Look) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.kinds = choice('Background', BACKGROUNDS, (kind) => this.choose(kind));
    this.objects = choice('Object', OBJECTS, (kind) => this.disguise(kind));
    this.color.addEventListener('input', () => this.choose('color'));
    this.file.addEventListener('change', () => void this.read());
    for (const input of [this.lined, this.line]) input.addEventListener('input', () => this.draw());
    this.element = h(
      'div',
      { class: 'look' },
      h('h3', {}, 'Background'),
      h('div', { class: 'background' }, this.kinds.element, this.color, this.file),
      h('h3', {}, 'Object'),
      h(
        'div',
        { class: 'background' },
        this.objects.element,
        h('span', { class: 'lined' }, h('label', {}, this.lined, 'Outline'), this.line),
      ),
    );
    this.show(this.look, this.short);
  }

  /** `short`: the short side of the video. */
  show(look: Look, short: number): void {
    this.look = look;
    this.short = short;
    const { background, object, outline } = look;
    if (background.kind !== 'matte') this.kinds.set(background.kind);
    this.objects.set(object.kind);
    this.color.hidden = background.kind !== 'color';
    if (background.kind === 'color') this.color.value = background.color;
    this.lined.checked = outline !== null;
    this.line.hidden = !outline;
    if (outline) this.line.value = outline.color;
  }

  private choose(kind: Kind): void {
    if (kind === 'image') return this.file.click();
    const behind: Record<Exclude<Kind, 'image'>, Background> = {
      transparent: { kind: 'transparent' },
      scene: { kind: 'scene' },
      grey: { kind: 'grey' },
      color: { kind: 'color', color: this.color.value },
      blur: { kind: 'blur', radius: this.pixels(BLUR) },
      pixels: { kind: 'pixels', size: this.pixels(SQUARE) },
    };
    this.change({ ...this.look, background: behind[kind] });
  }

  /** Whoever hides an object wants to see the rest. */
  private disguise(kind: Disguise['kind']): void {
    const objects: Record<Disguise['kind'], Disguise> = {
      plain: { kind: 'plain' },
      blur: { kind: 'blur', radius: this.pixels(HIDING) },
      pixels: { kind: 'pixels', size: this.pixels(SQUARE) },
    };
    const alone = this.look.background.kind === 'transparent' && kind !== 'plain';
    const background: Background = alone ? { kind: 'scene' } : this.look.background;
    this.change({ ...this.look, object: objects[kind], background });
  }

  private draw(): void {
    const outline = this.lined.checked ? { color: this.line.value, width: this.pixels(LINE) } : null;
    this.change({ ...this.look, outline });
  }

  private pixels(share: number): number {
    return Math.max(1, Math.round(share * this.short));
  }

  private async read(): Promise<void> {
    const file = this.file.files?.[0];
    this.file.value = '';
    if (!file) return;
    try {
      this.change({ ...this.look, background: { kind: 'image', image: await createImageBitmap(file) } });
    } catch {
      this.failed(new Error(`“${file.name}” cannot be read as a picture.`));
    }
  }
}
