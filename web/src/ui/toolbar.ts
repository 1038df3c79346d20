/** The tools with which objects are marked. */
import type { Session } from '../editor/session';
import { h, iconButton } from './dom';
import { ICONS } from './icons';
import type { Marker, Tool } from './marker';

const TOOLS: { tool: Tool; label: string; key: string }[] = [
  { tool: 'select', label: 'Select', key: 'T' },
  { tool: 'brush', label: 'Brush', key: 'P' },
  { tool: 'eraser', label: 'Eraser', key: 'E' },
];

export class Toolbar {
  readonly element: HTMLElement;
  private readonly tools: HTMLButtonElement[];
  private readonly sign: HTMLButtonElement;
  private readonly size: HTMLInputElement;
  private readonly sizes: HTMLElement;
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;

  constructor(
    private readonly marker: Marker,
    actions: { use(tool: Tool): void; sign(): void; undo(): void; redo(): void },
    more: HTMLButtonElement,
  ) {
    this.tools = TOOLS.map(({ tool, label, key }) => {
      const button = iconButton(ICONS[tool], label, key, () => actions.use(tool), 'tool');
      button.append(h('span', {}, label));
      return button;
    });
    this.sign = iconButton(ICONS.plus, 'Taps add to the object', 'X', actions.sign, 'tool sign');
    this.size = h('input', { type: 'range', class: 'brush', min: 1, max: 60, 'aria-label': 'Brush size' });
    this.sizes = h('div', { class: 'sizes' }, this.size);
    this.size.addEventListener('input', () => (marker.brush = Number(this.size.value)));
    this.undo = iconButton(ICONS.undo, 'Undo', 'Z', actions.undo, 'tool');
    this.redo = iconButton(ICONS.redo, 'Redo', 'Shift+Z', actions.redo, 'tool');
    this.undo.append(h('span', {}, 'Undo'));
    this.redo.append(h('span', {}, 'Redo'));
    this.element = h(
      'div',
      { class: 'toolbar', role: 'toolbar', 'aria-label': 'Tools', 'aria-orientation': 'vertical' },
      ...this.tools,
      this.sign,
      this.sizes,
      h('hr', {}),
      this.undo,
      this.redo,
      more,
    );
  }

  update(session: Session): void {
    const { tool, adding } = this.marker;
    TOOLS.forEach((entry, i) => this.tools[i].setAttribute('aria-pressed', String(entry.tool === tool)));
    const painting = tool === 'brush' || tool === 'eraser';
    this.sign.hidden = painting;
    this.sign.innerHTML = `${adding ? ICONS.plus : ICONS.minus}<span>${adding ? 'Add' : 'Remove'}</span>`;
    this.sign.setAttribute('aria-label', adding ? 'Taps add to the object' : 'Taps remove from the object');
    this.sign.setAttribute('aria-pressed', String(!adding));
    this.sizes.hidden = !painting;
    this.size.max = String(Math.round(0.08 * Math.max(session.source.width, session.source.height)));
    this.size.value = String(this.marker.brush);
    const busy = session.busy !== null;
    this.undo.disabled = busy || !session.history.canUndo;
    this.redo.disabled = busy || !session.history.canRedo;
  }
}
