/** What is behind the objects: nothing, a colour, a blur or a picture. */
import type { Background } from '../export/types';
import { choice, h } from './dom';

type Kind = Background['kind'];

const OPTIONS: { value: Kind; text: string }[] = [
  { value: 'transparent', text: 'None' },
  { value: 'color', text: 'Colour' },
  { value: 'blur', text: 'Blur' },
  { value: 'image', text: 'Picture' },
];

/** Two of these show the same background: beside the picture, and in the dialog. */
export class BackgroundPicker {
  readonly element: HTMLElement;
  private readonly kinds: { element: HTMLElement; set(value: Kind): void };
  private readonly color = h('input', { type: 'color', value: '#00b140', 'aria-label': 'Background colour' });
  private readonly file = h('input', {
    type: 'file',
    accept: 'image/*',
    hidden: true,
    'aria-label': 'Background picture',
  });

  constructor(
    private readonly change: (background: Background) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.kinds = choice('Background', OPTIONS, (kind) => this.choose(kind));
    this.color.addEventListener('input', () => this.choose('color'));
    this.file.addEventListener('change', () => void this.read());
    this.element = h('div', { class: 'background' }, this.kinds.element, this.color, this.file);
    this.show({ kind: 'transparent' });
  }

  show(background: Background): void {
    this.kinds.set(background.kind);
    this.color.hidden = background.kind !== 'color';
    if (background.kind === 'color') this.color.value = background.color;
  }

  private choose(kind: Kind): void {
    if (kind === 'image') this.file.click();
    else if (kind === 'color') this.change({ kind, color: this.color.value });
    else if (kind === 'blur') this.change({ kind, radius: 16 });
    else this.change({ kind });
  }

  private async read(): Promise<void> {
    const file = this.file.files?.[0];
    this.file.value = '';
    if (!file) return;
    try {
      this.change({ kind: 'image', image: await createImageBitmap(file) });
    } catch {
      this.failed(new Error(`“${file.name}” cannot be read as a picture.`));
    }
  }
}
