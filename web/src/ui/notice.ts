/** Messages in a corner, read aloud by screen readers. */
import { h, iconButton } from './dom';
import { ICONS } from './icons';

const GONE_AFTER = 6000;

export class Notices {
  readonly element = h('div', { class: 'notices' });
  private readonly polite = h('div', { role: 'status', 'aria-live': 'polite' });
  private readonly urgent = h('div', { role: 'alert' });

  constructor() {
    this.element.append(this.polite, this.urgent);
  }

  /** Goes away by itself. */
  say(text: string): void {
    const note = this.note(text, 'notice');
    this.polite.append(note);
    setTimeout(() => note.remove(), GONE_AFTER);
  }

  /** Stays until it is closed or another error comes. */
  error(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    console.warn(error);
    this.urgent.replaceChildren(this.note(text, 'notice error'));
  }

  clear(): void {
    this.urgent.replaceChildren();
  }

  private note(text: string, className: string): HTMLElement {
    const note = h('div', { class: className }, h('p', {}, text));
    note.append(iconButton(ICONS.close, 'Close', '', () => note.remove()));
    return note;
  }
}
