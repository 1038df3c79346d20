/** Moves through a video: step, play, follow. */
import type { Speaker } from '../video/speaker';
import type { Session } from './session';
import type { Direction } from './state';
import { track } from './track';

/** Milliseconds between two frames that are drawn while following. */
const SHOWN_EVERY = 80;

export class Player {
  mode: 'play' | 'follow' | null = null;
  /** Frames per second of the last frames that were followed. */
  rate = 0;
  /** Which frames are followed: from where, and how far at most. */
  private begin = 0;
  private goal = 0;
  private stopping = new AbortController();
  private done: Promise<void> = Promise.resolve();

  constructor(
    private readonly session: Session,
    private readonly speaker: Speaker,
    private readonly show: () => Promise<void>,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Ends when the frame under way is done. */
  async pause(): Promise<void> {
    this.stopping.abort(); // what is heard ends now
    await this.done;
  }

  async seek(index: number): Promise<void> {
    if (this.mode) await this.pause();
    this.session.index = Math.min(Math.max(index, 0), this.session.frames - 1);
    this.changed();
    await this.show();
  }

  play(): void {
    if (this.mode || this.session.busy) return;
    if (this.session.endsBefore(this.session.index + 1, 1)) this.session.index = this.session.range.first;
    this.run('play', (signal) => this.playing(signal));
  }

  /** How much of the run is done, 0..1. */
  get progress(): number {
    return Math.abs(this.session.index - this.begin) / Math.max(1, Math.abs(this.goal - this.begin));
  }

  /** Frames that are still to be followed. */
  get left(): number {
    return Math.abs(this.goal - this.session.index);
  }

  follow(direction: Direction): void {
    this.begin = this.goal = this.session.index;
    while (!this.session.endsBefore(this.goal + direction, direction)) this.goal += direction;
    this.run('follow', (signal) => track(this.session, direction, signal, this.painter()));
  }

  /** Shows the frames that were followed, or most of them: drawing takes time from the network. */
  private painter(): () => Promise<void> {
    let last = performance.now();
    let drawn = 0;
    return async () => {
      const now = performance.now();
      const rate = 1000 / Math.max(1, now - last);
      this.rate = this.rate ? 0.8 * this.rate + 0.2 * rate : rate;
      last = now;
      if (now - drawn < SHOWN_EVERY) return;
      drawn = now;
      await this.show();
    };
  }

  private run(mode: 'play' | 'follow', work: (signal: AbortSignal) => Promise<void>): void {
    if (this.mode || this.session.busy) return;
    this.mode = mode;
    this.rate = 0;
    this.session.busy = mode === 'play' ? null : 'tracking';
    this.stopping = new AbortController();
    this.changed();
    this.done = work(this.stopping.signal)
      .catch(this.failed)
      .then(() => {
        this.stopping.abort(); // nothing is heard any more, also where the pictures have failed
        this.mode = null;
        this.session.busy = null;
        this.changed();
        return this.show();
      })
      .catch(this.failed);
  }

  /** At the video's own times; frames are left out where showing them takes too long. */
  private async playing(signal: AbortSignal): Promise<void> {
    const { session } = this;
    const { timestamps, durations, sound } = session.source;
    const from = timestamps[session.index];
    const { last } = session.range;
    const end = session.index <= last ? last : timestamps.length - 1;
    const delay = sound ? await this.speaker.play(sound, from, timestamps[end] + durations[end], signal) : 0;
    const begin = performance.now() / 1000 - from + delay;
    while (!signal.aborted && !session.endsBefore(session.index + 1, 1)) {
      const time = performance.now() / 1000 - begin;
      let next = session.index + 1;
      while (!session.endsBefore(next + 1, 1) && timestamps[next + 1] <= time) next++;
      const wait = 1000 * (timestamps[next] - time);
      if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
      if (signal.aborted) return;
      session.index = next;
      this.changed();
      await this.show();
    }
  }
}
