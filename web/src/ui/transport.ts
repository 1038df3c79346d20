/** Play, step and follow. */
import { placeText, type Place } from '../editor/doubt';
import type { Player } from '../editor/player';
import type { Session } from '../editor/session';
import { leftToFollow } from '../editor/tracked';
import { h, iconButton } from './dom';
import { ICONS } from './icons';
import { timeText } from './save';

export interface TransportActions {
  step(by: number): void;
  toggle(): void;
  follow(direction: 1 | -1): void;
  /** To the next place that needs a look. */
  check(): void;
  /** Begin or end here; null: all of the video. */
  cut(end: 'first' | 'last' | null): void;
  mute(): void;
}

export class Transport {
  readonly element: HTMLElement;
  /** Where it begins and ends: on phones among the things that are not always needed. */
  readonly cutting: HTMLElement;
  /** What is over the picture on phones. */
  readonly over: HTMLElement[];
  private readonly play: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private readonly forth: HTMLButtonElement;
  private readonly check: HTMLButtonElement;
  private readonly sound: HTMLButtonElement;
  private readonly steps: HTMLButtonElement[];
  private readonly cuts: HTMLButtonElement[];
  private readonly whole: HTMLButtonElement;
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
    this.check = labelled(ICONS.doubt, 'Places to check', 'N', actions.check, 'quiet check');
    this.cuts = [
      labelled(ICONS.inPoint, 'Begin here', 'I', () => actions.cut('first'), 'icon'),
      labelled(ICONS.outPoint, 'End here', 'O', () => actions.cut('last'), 'icon'),
    ];
    this.whole = h('button', { type: 'button', class: 'quiet small', on: { click: () => actions.cut(null) } }, 'All');
    this.whole.title = 'All of the video again';
    this.cutting = h('div', { class: 'cuts' }, ...this.cuts, this.whole);
    this.sound = iconButton(ICONS.sound, 'Mute', 'M', actions.mute, 'icon sound');
    this.sound.hidden = true;
    this.over = [
      h('div', { class: 'left' }, this.time, this.pace),
      h('div', { class: 'right' }, this.check, this.sound, this.cutting),
    ];
    this.element = h(
      'div',
      { class: 'transport' },
      this.over[0],
      h('div', { class: 'middle' }, this.back, this.steps[0], this.play, this.steps[1], this.forth),
      this.over[1],
    );
  }

  /** Back to its place beside the others. */
  takeCutting(): void {
    this.over[1].append(this.cutting);
  }

  /** The button that follows, or stops it. */
  focus(): void {
    this.forth.focus();
  }

  update(session: Session, player: Player, muted: boolean, found: readonly Place[]): void {
    const { index, frames, source, range } = session;
    const running = player.mode !== null;
    const following = player.mode === 'follow';
    const refining = session.busy === 'refining';
    this.play.innerHTML = running ? ICONS.pause : ICONS.play;
    this.play.setAttribute('aria-label', running ? 'Pause' : 'Play');
    const last = source.timestamps[frames - 1] + source.durations[frames - 1];
    const begin = source.timestamps[0];
    this.time.textContent = `${clock(source.timestamps[index] - begin)} / ${clock(last - begin)}`;
    this.pace.textContent =
      following && player.rate ? `${player.rate.toFixed(1)} fps` : `frame ${index + 1} of ${frames}`;
    const marked = session.state.frames.size > 0;
    const here = Boolean(session.masks?.ids.length);
    this.back.disabled = running || refining || !marked || (here && session.endsBefore(index - 1, -1));
    this.forth.disabled = (running && !following) || refining || !marked;
    this.forth.disabled ||= !running && here && session.endsBefore(index + 1, 1);
    const done = marked && leftToFollow(session) === 0;
    this.forth.classList.toggle('primary', following || !done);
    this.forth.classList.toggle('secondary', !following && done);
    this.forth.classList.toggle('stop', following);
    label(this.forth, following ? ICONS.stop : ICONS.follow, following ? stopText(player) : 'Follow');
    for (const button of [...this.steps, ...this.cuts]) button.disabled = running;
    this.sound.hidden = !source.sound;
    this.sound.innerHTML = muted ? ICONS.muted : ICONS.sound;
    this.sound.setAttribute('aria-pressed', String(muted));
    this.whole.hidden = !session.isPart;
    this.cuts[0].setAttribute('aria-pressed', String(session.isPart && range.first > 0));
    this.cuts[1].setAttribute('aria-pressed', String(session.isPart && range.last < frames - 1));
    const places = following ? 0 : new Set(found.map(({ correct }) => correct)).size;
    this.check.hidden = places === 0;
    this.check.disabled = running;
    label(this.check, ICONS.doubt, places === 1 ? '1 place to check' : `${places} places to check`);
    this.check.title = [...found.map((place) => placeText(place, session.state.objects)), '(N)'].join('\n');
    this.play.disabled = (!running && frames < 2) || refining;
  }
}

/** How far it is, and how long it takes; nothing is known of that before a few frames are done. */
function stopText({ progress, rate, left }: Player): string {
  if (!rate) return 'Stop';
  return `Stop, ${Math.round(100 * progress)}%, about ${timeText(left / rate)} left`;
}

function label(button: HTMLButtonElement, icon: string, text: string): void {
  if (button.getAttribute('aria-label') === text) return;
  button.setAttribute('aria-label', text);
  button.innerHTML = icon;
  button.append(h('span', {}, text));
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
