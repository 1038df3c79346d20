/** Play, step and follow. */
import type { Player } from '../editor/player';
import type { Session } from '../editor/session';
import { h, iconButton } from './dom';
import { ICONS } from './icons';

export interface TransportActions {
  step(by: number): void;
  toggle(): void;
  follow(direction: 1 | -1): void;
  doubt(): void;
}

export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly forth: HTMLButtonElement;
  private readonly doubt: HTMLButtonElement;
  private readonly steps: HTMLButtonElement[];
  private readonly time = h('span', { class: 'time' });
  private readonly pace = h('span', { class: 'pace' });

  constructor(actions: TransportActions) {
    this.play = iconButton(ICONS.play, 'Play', 'Space', actions.toggle, 'icon round');
    this.steps = [
      iconButton(ICONS.previous, 'Previous frame', 'ArrowLeft', () => actions.step(-1)),
      iconButton(ICONS.next, 'Next frame', 'ArrowRight', () => actions.step(1)),
    ];
    this.back = labelled(ICONS.followBack, 'Follow back', 'Shift+F', () => actions.follow(-1), 'secondary follow-back');
    this.forth = labelled(ICONS.follow, 'Follow', 'F', () => actions.follow(1), 'primary follow');
    this.doubt = iconButton(ICONS.doubt, 'Go to the least certain frame', 'N', actions.doubt);
    this.element = h(
      'div',
      { class: 'transport' },
      h('div', { class: 'left' }, this.time, this.pace),
      h('div', { class: 'middle' }, this.back, this.steps[0], this.play, this.steps[1], this.forth),
      h('div', { class: 'right' }, this.doubt),
    );
  }

  update(session: Session, player: Player): void {
    const { index, frames, source } = session;
    const running = player.mode !== null;
    const following = player.mode === 'follow' || player.mode === 'live';
    const refining = session.busy === 'refining';
    this.play.innerHTML = running ? ICONS.pause : ICONS.play;
    this.play.setAttribute('aria-label', running ? 'Pause' : 'Play');
    const last = frames ? source.timestamps[frames - 1] + source.durations[frames - 1] : 0;
    const begin = source.timestamps[0] ?? 0;
    this.time.textContent = frames ? `${clock(source.timestamps[index] - begin)} / ${clock(last - begin)}` : 'Live';
    const pace = following && player.rate ? `${player.rate.toFixed(1)} fps` : `frame ${index + 1} of ${frames}`;
    this.pace.textContent = frames ? pace : '';
    const marked = session.state.frames.size > 0;
    for (const button of [this.back, this.forth]) button.disabled = running || refining || !marked;
    const here = Boolean(session.masks?.ids.length);
    this.back.disabled ||= here && index === 0;
    this.forth.disabled ||= here && index >= frames - 1;
    for (const button of this.steps) button.disabled = running;
    this.doubt.disabled = running || session.state.frames.size < 2;
    this.play.disabled = (!running && frames < 2) || refining;
  }
}

function labelled(icon: string, text: string, key: string, act: () => void, className: string): HTMLButtonElement {
  const button = iconButton(icon, text, key, act, className);
  button.append(h('span', {}, text));
  return button;
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds + 1e-6);
  const part = Math.floor(10 * (seconds - whole) + 1e-6);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}.${Math.min(9, Math.max(0, part))}`;
}
