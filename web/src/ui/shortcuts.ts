/** Keys, and the dialog that lists them. */
import { h, iconButton } from './dom';
import { ICONS } from './icons';

export interface Shortcut {
  /** Also before a video is open. */
  always?: boolean;
  /** As in `KeyboardEvent.key`, lower case, with `shift+` or `mod+` before it. */
  key: string;
  text: string;
  act: () => void;
  /** When the key goes down; `act` is done when it comes up. */
  down?: () => void;
}

export function listen(shortcuts: readonly Shortcut[], enabled: () => boolean): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const typing =
      target.matches('input:not([type=range]), textarea, select') || document.querySelector('dialog[open]');
    if (typing) return;
    const mod = event.metaKey || event.ctrlKey ? 'mod+' : '';
    const key = `${mod}${event.shiftKey && event.key !== '?' ? 'shift+' : ''}${event.key.toLowerCase()}`;
    const found = shortcuts.find((shortcut) => shortcut.key === key);
    const pressing = event.key === ' ' && target.matches('button');
    if (!found || pressing || !(found.always || enabled())) return;
    event.preventDefault();
    if (!found.down) found.act();
    else if (!event.repeat) {
      found.down();
      const up = (other: KeyboardEvent) => {
        if (other.key !== event.key) return;
        document.removeEventListener('keyup', up);
        found.act();
      };
      document.addEventListener('keyup', up);
    }
  });
}

export function helpDialog(shortcuts: readonly Shortcut[]): HTMLDialogElement {
  const rows = shortcuts
    .filter((shortcut) => shortcut.text)
    .map(({ key, text }) => h('div', {}, h('dt', {}, ...keys(key)), h('dd', {}, text)));
  const dialog: HTMLDialogElement = h(
    'dialog',
    { class: 'sheet help', 'aria-label': 'Help' },
    h(
      'header',
      {},
      h('h2', {}, 'How it works'),
      iconButton(ICONS.close, 'Close', 'Escape', () => dialog.close()),
    ),
    h(
      'ol',
      {},
      h(
        'li',
        {},
        'Drag around an object, or tap it. Right click, Alt or the minus take away. The outline appears at once.',
      ),
      h('li', {}, 'Press Follow: the object is followed through the video, forward or backward.'),
      h(
        'li',
        {},
        'Each object has a lane in its colour under the pictures; it is hatched where it is doubtful. Fix it there and follow again.',
      ),
      h('li', {}, 'Export it: to share, to edit, or to train on. Your work is kept on this device meanwhile.'),
      h('li', {}, 'Closer: the wheel or two fingers. Hold the space bar and drag to move the picture.'),
    ),
    h('h3', {}, 'Keys'),
    h('dl', {}, ...rows),
  );
  return dialog;
}

function keys(key: string): HTMLElement[] {
  const names: Record<string, string> = {
    ' ': 'Space',
    arrowleft: '←',
    arrowright: '→',
    shift: 'Shift',
    mod: navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl',
  };
  const parts = key.length === 1 ? [key] : key.split('+');
  return parts.map((part) => h('kbd', {}, names[part] ?? part.toUpperCase()));
}
