/** The list of objects: choose, name, remove, add. */
import type { Session } from '../editor/session';
import type { TrackedObject } from '../editor/state';
import { h, iconButton } from './dom';
import { ICONS } from './icons';

export interface ObjectActions {
  choose(id: number): void;
  rename(id: number, name: string): void;
  remove(id: number): void;
  add(): void;
  hide(): void;
}

interface Row {
  id: number;
  element: HTMLElement;
  pick: HTMLButtonElement;
  name: HTMLInputElement;
  remove: HTMLButtonElement;
}

export class ObjectList {
  readonly element: HTMLElement;
  private readonly list = h('ul', { class: 'objects', 'aria-label': 'Objects' });
  private readonly hide: HTMLButtonElement;
  private readonly add: HTMLButtonElement;
  private rows: Row[] = [];

  constructor(private readonly actions: ObjectActions) {
    this.add = h('button', { type: 'button', class: 'quiet wide', on: { click: () => actions.add() } });
    this.add.innerHTML = `${ICONS.plus}<span>New object</span>`;
    this.hide = h('button', { type: 'button', class: 'quiet wide', on: { click: () => actions.hide() } });
    this.hide.innerHTML = `${ICONS.hide}<span>Not in this frame</span>`;
    this.element = h('section', { class: 'card' }, h('h2', {}, 'Objects'), this.list, this.add, this.hide);
  }

  update({ state: { objects }, active, busy, masks }: Session): void {
    this.hide.disabled = !masks?.ids.includes(active) || busy !== null;
    this.add.disabled = busy !== null;
    // Rows stay where they can: whoever types a name keeps the field.
    if (
      !objects.length ||
      objects.some(({ id }, i) => this.rows[i]?.id !== id) ||
      objects.length !== this.rows.length
    ) {
      this.rows = objects.map((object) => this.row(object));
      const empty = h('li', { class: 'empty' }, 'Tap an object in the picture.');
      this.list.replaceChildren(...(objects.length ? this.rows.map((row) => row.element) : [empty]));
    }
    objects.forEach(({ id, name }, i) => {
      const row = this.rows[i];
      row.element.classList.toggle('active', id === active);
      row.pick.setAttribute('aria-pressed', String(id === active));
      row.pick.setAttribute('aria-label', `Mark ${name}`);
      if (row.name.ownerDocument.activeElement !== row.name) row.name.value = name;
      row.name.readOnly = row.remove.disabled = busy !== null;
      row.remove.setAttribute('aria-label', `Remove ${name}`);
      row.remove.title = `Remove ${name}`;
    });
  }

  private row({ id, name: called, color }: TrackedObject): Row {
    const pick = h('button', {
      type: 'button',
      class: 'pick',
      style: `--color: ${color}`,
      on: { click: () => this.actions.choose(id) },
    });
    const name = h('input', { value: called, 'aria-label': `Name of object ${id}`, maxlength: 40 });
    let last = called;
    name.addEventListener('change', () => {
      last = name.value = name.value.trim() || last;
      this.actions.rename(id, last);
    });
    name.addEventListener('focus', () => this.actions.choose(id));
    const remove = iconButton(ICONS.trash, `Remove ${called}`, '', () => this.actions.remove(id));
    return { id, element: h('li', {}, pick, name, remove), pick, name, remove };
  }
}
