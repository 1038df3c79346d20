/** The list of objects: choose, name, remove, add. */
import type { Session } from '../editor/session';
import { h, iconButton } from './dom';
import { ICONS } from './icons';

export interface ObjectActions {
  choose(id: number): void;
  rename(id: number, name: string): void;
  remove(id: number): void;
  add(): void;
  hide(): void;
}

export class ObjectList {
  readonly element: HTMLElement;
  private readonly list = h('ul', { class: 'objects', 'aria-label': 'Objects' });
  private readonly hide: HTMLButtonElement;
  private shown: { objects: unknown; active: number } | undefined;

  constructor(private readonly actions: ObjectActions) {
    const add = h('button', { type: 'button', class: 'quiet wide', on: { click: () => actions.add() } });
    add.innerHTML = `${ICONS.plus}<span>New object</span>`;
    this.hide = h('button', { type: 'button', class: 'quiet wide', on: { click: () => actions.hide() } });
    this.hide.innerHTML = `${ICONS.hide}<span>Not in this frame</span>`;
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Objects'), this.list, add, this.hide);
  }

  update(session: Session): void {
    const { objects } = session.state;
    this.hide.disabled = !session.masks?.ids.includes(session.active) || session.busy !== null;
    if (this.shown?.objects === objects && this.shown.active === session.active) return;
    this.shown = { objects, active: session.active };
    if (!objects.length) {
      this.list.replaceChildren(h('li', { class: 'empty' }, 'Tap an object in the picture.'));
      return;
    }
    this.list.replaceChildren(
      ...objects.map((object) => {
        const active = object.id === session.active;
        const pick = h('button', {
          type: 'button',
          class: 'pick',
          'aria-pressed': active,
          'aria-label': `Mark ${object.name}`,
          style: `--color: ${object.color}`,
          on: { click: () => this.actions.choose(object.id) },
        });
        const name = h('input', { value: object.name, 'aria-label': `Name of object ${object.id}`, maxlength: 40 });
        name.addEventListener('change', () => this.actions.rename(object.id, name.value.trim() || object.name));
        name.addEventListener('focus', () => this.actions.choose(object.id));
        const remove = iconButton(ICONS.trash, `Remove ${object.name}`, '', () => this.actions.remove(object.id));
        return h('li', { class: active ? 'active' : '' }, pick, name, remove);
      }),
    );
  }
}
