/** The panel with what is not always needed: at the side where there is room, on phones a sheet that comes when asked. */
import { h, iconButton } from './dom';
import { ICONS } from './icons';

export class Sheet {
  readonly element: HTMLElement;
  /** Opens and closes it on phones. */
  readonly button: HTMLButtonElement;
  /** What is around it: a tap there closes it, and does nothing else. */
  readonly around: HTMLElement;

  constructor(...cards: HTMLElement[]) {
    this.button = iconButton(ICONS.more, 'More', '', () => (this.isOpen ? this.close() : this.open()), 'tool more');
    this.button.append(h('span', {}, 'More'));
    this.around = h('div', { class: 'around', hidden: true, on: { click: () => this.close() } });
    const close = iconButton(ICONS.close, 'Close', 'Escape', () => this.close());
    this.element = h(
      'aside',
      { class: 'panel', id: 'panel', tabindex: -1, 'aria-label': 'Objects and view' },
      h('header', { class: 'sheet-top' }, h('h2', {}, 'Objects and view'), close),
      ...cards,
    );
    this.button.setAttribute('aria-controls', 'panel');
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.isOpen) return;
      event.stopPropagation();
      this.close();
    });
    this.show(false);
  }

  get isOpen(): boolean {
    return !this.around.hidden;
  }

  open(): void {
    this.show(true);
    this.element.focus();
  }

  close(): void {
    if (!this.isOpen) return;
    this.show(false);
    this.button.focus();
  }

  private show(open: boolean): void {
    this.element.classList.toggle('open', open);
    this.around.hidden = !open;
    this.button.setAttribute('aria-expanded', String(open));
  }
}
