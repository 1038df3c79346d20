/** A small bar beside the object that marks go to: add, remove, follow. */
import type { Session } from '../editor/session';
import type { FrameMasks } from '../editor/state';
import { unpack } from '../tracking/planes';
import { beside, occupied, type Occupied } from './beside';
import { h, iconButton } from './dom';
import { ICONS } from './icons';
import type { Lens } from './lens';

export interface BarActions {
  /** Whether taps add to the object, or remove from it. */
  sign(adding: boolean): void;
  follow(): void;
  /** The bar goes while a key press may still be meant for it. */
  left(): void;
}

export class ObjectBar {
  readonly element: HTMLElement;
  private readonly add: HTMLButtonElement;
  private readonly remove: HTMLButtonElement;
  private readonly follow: HTMLButtonElement;
  private readonly sign = h('span', { class: 'doubt', role: 'img' });
  /** What is the matter with the object here, in a few words. */
  doubt = '';
  /** What is where, and of what that was made. */
  private known: { masks: FrameMasks; key: string; occupied: Occupied | null } | undefined;

  constructor(
    private readonly lens: Lens,
    private readonly actions: BarActions,
  ) {
    this.add = iconButton(ICONS.plus, 'Taps add', 'X', () => actions.sign(true), 'add');
    this.remove = iconButton(ICONS.minus, 'Taps remove', 'X', () => actions.sign(false), 'remove');
    this.follow = iconButton(ICONS.follow, 'Follow from here', 'F', actions.follow, 'go-on');
    this.element = h('div', { class: 'object-bar', role: 'group' }, this.sign, this.add, this.remove, this.follow);
    this.sign.innerHTML = ICONS.doubt;
    this.element.hidden = true;
  }

  /** `shown`: whether there is use for it now. `around`: what else is shown over the picture. */
  update(session: Session, shown: boolean, adding: boolean, around: readonly HTMLElement[]): void {
    const { active, masks, state } = session;
    const name = state.objects.find(({ id }) => id === active)?.name ?? '';
    this.sign.hidden = !this.doubt;
    this.sign.title = this.doubt;
    this.sign.setAttribute('aria-label', this.doubt);
    const place = shown && masks?.ids.includes(active) ? this.place(session, masks, around) : null;
    if (!place) return this.hide();
    this.element.hidden = false;
    this.element.classList.toggle('upright', place.height > place.width);
    Object.assign(this.element.style, { left: `${place.left}px`, top: `${place.top}px` });
    this.element.setAttribute('aria-label', name);
    label(this.add, `Taps add to ${name}`, adding);
    label(this.remove, `Taps remove from ${name}`, !adding);
    this.follow.disabled = session.endsBefore(session.index + 1, 1);
  }

  private hide(): void {
    const focused = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (focused) this.actions.left();
  }

  private place(session: Session, masks: FrameMasks, around: readonly HTMLElement[]) {
    const frame = this.element.parentElement!.getBoundingClientRect();
    if (!frame.width || !frame.height) return null;
    const part = this.lens.part;
    const key = [session.active, frame.width, frame.height, part.left, part.top, part.width].join();
    if (this.known?.masks !== masks || this.known.key !== key) {
      this.known = { masks, key, occupied: this.seen(masks, session.active, frame) };
    }
    if (!this.known.occupied) return null;
    const taken = around
      .map((element) => element.getBoundingClientRect())
      .filter(({ width, height }) => width && height)
      .map(({ left, top, width, height }) => ({ left: left - frame.left, top: top - frame.top, width, height }));
    this.element.hidden = false; // to be measured
    const { offsetWidth, offsetHeight } = this.element;
    const [long, short] = [Math.max(offsetWidth, offsetHeight), Math.min(offsetWidth, offsetHeight)];
    const lying = { width: long, height: short };
    return beside(this.known.occupied, [lying, { width: short, height: long }], taken);
  }

  private seen(masks: FrameMasks, active: number, frame: { width: number; height: number }): Occupied | null {
    const { height, width, box } = masks.raster;
    const planes = masks.planes.map((packed) => unpack(packed, height * width));
    const mine = planes[masks.ids.indexOf(active)];
    return occupied(frame.width, frame.height, (x, y) => {
      const { x: u, y: v } = this.lens.toVideo(x / frame.width, y / frame.height);
      const column = Math.floor(((u - box.left) * width) / box.width);
      const row = Math.floor(((v - box.top) * height) / box.height);
      if (column < 0 || row < 0 || column >= width || row >= height) return 0;
      const at = row * width + column;
      if (mine[at] > 127) return 2;
      return planes.some((plane) => plane[at] > 127) ? 1 : 0;
    });
  }
}

function label(button: HTMLButtonElement, text: string, pressed: boolean): void {
  button.setAttribute('aria-label', text);
  button.title = `${text} (X)`;
  button.setAttribute('aria-pressed', String(pressed));
}
