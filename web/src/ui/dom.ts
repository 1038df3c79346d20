/** Makes elements. */
type Props = Record<string, unknown> & { on?: Record<string, (event: never) => void> };

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === 'on') {
      for (const [event, listener] of Object.entries(props.on!)) {
        element.addEventListener(event, listener as (event: Event) => void);
      }
    } else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A button with a drawing; the label is for screen readers and the tooltip. */
export function iconButton(drawing: string, label: string, shortcut: string, act: () => void, className = 'icon') {
  const title = shortcut ? `${label} (${shortcut})` : label;
  const button = h('button', { type: 'button', class: className, 'aria-label': label, title, on: { click: act } });
  if (shortcut) button.setAttribute('aria-keyshortcuts', shortcut);
  button.innerHTML = drawing;
  return button;
}

/** Several values of which one is chosen, as a row of buttons. */
export function choice<T extends string>(
  label: string,
  options: readonly { value: T; text: string; hint?: string }[],
  choose: (value: T) => void,
): { element: HTMLElement; set(value: T): void } {
  const buttons = options.map(({ value, text, hint }) =>
    h('button', { type: 'button', role: 'radio', title: hint, on: { click: () => choose(value) } }, text),
  );
  const element = h('div', { class: 'choice', role: 'radiogroup', 'aria-label': label }, ...buttons);
  element.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (at + step + buttons.length) % buttons.length;
    buttons[next].focus();
    choose(options[next].value);
  });
  return {
    element,
    set(value) {
      options.forEach((option, i) => {
        const chosen = option.value === value;
        buttons[i].setAttribute('aria-checked', String(chosen));
        buttons[i].tabIndex = chosen ? 0 : -1;
      });
    },
  };
}
