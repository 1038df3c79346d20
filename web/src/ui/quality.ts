/** The choice of the working size: how finely the network looks. */
import { SIZES } from '../editor/network';
import type { Quality } from '../editor/pace';
import { h } from './dom';

export class QualityPicker {
  readonly element: HTMLElement;
  private readonly select = h('select', { 'aria-label': 'Quality' });
  private readonly about = h('p', { class: 'about' });

  constructor(initial: Quality, change: (quality: Quality) => void) {
    const options: [Quality, string][] = [
      ['auto', 'Automatic'],
      ...SIZES.map((size): [Quality, string] => [size, name(size)]),
    ];
    for (const [value, text] of options) {
      this.select.append(h('option', { value, selected: value === initial }, text));
    }
    this.select.addEventListener('change', () => change(this.value));
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Quality'), this.select, this.about);
  }

  get value(): Quality {
    return this.select.value === 'auto' ? 'auto' : (Number(this.select.value) as Quality);
  }

  /** What is used now. */
  show(text: string): void {
    this.about.textContent = text;
  }
}

function name(size: (typeof SIZES)[number]): string {
  if (size === SIZES[0]) return `${size}p, finest`;
  return size === SIZES.at(-1) ? `${size}p, fastest` : `${size}p`;
}
