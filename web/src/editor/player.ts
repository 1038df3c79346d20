/** Moves through a video: step, play, follow, live. */
import { CameraVideo, MOST_FRAMES } from '../video/camera';
import type { Session } from './session';
import type { Direction } from './state';
import { track, trackLive } from './track';

/** Milliseconds between two frames that are drawn while following. */
const SHOWN_EVERY = 80;

export class Player {
  mode: 'play' | 'follow' | 'live' | null = null;
  /** Frames per second of the last frames that were followed. */
  rate = 0;
  private stopping = new AbortController();
  private done: Promise<void> = Promise.resolve();

  constructor(
    private readonly session: Session,
    private readonly show: () => Promise<void>,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Ends when the frame under way is done. */
  async pause(): Promise<void> {
    this.stopping.abort();
    await this.done;
  }

  async seek(index: number): Promise<void> {
    if (this.mode) await this.pause();
    if (!this.session.frames) return; // a camera that has recorded nothing yet
    this.session.index = Math.min(Math.max(index, 0), this.session.frames - 1);
    this.changed();
    await this.show();
  }

  play(): void {
    if (this.mode || this.session.busy || !this.session.frames) return;
    if (this.session.index >= this.session.frames - 1) this.session.index = 0;
    this.run('play', (signal) => this.playing(signal));
  }

  follow(direction: Direction): void {
    this.run('follow', (signal) => track(this.session, direction, signal, this.painter()));
  }

  /** Follow what the camera sees from now on, until it is paused, fails, or has recorded as much as there is room for. */
  live(camera: CameraVideo): Promise<void> {
    this.run('live', (signal) => trackLive(this.session, camera, MOST_FRAMES, signal, this.painter()));
    return this.done;
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

  private run(mode: 'play' | 'follow' | 'live', work: (signal: AbortSignal) => Promise<void>): void {
    if (this.mode || this.session.busy) return;
    this.mode = mode;
    this.rate = 0;
    this.session.busy = mode === 'play' ? null : 'tracking';
    this.stopping = new AbortController();
    this.changed();
    this.done = work(this.stopping.signal)
      .catch(this.failed)
      .then(() => {
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
    const { timestamps } = session.source;
    const begin = performance.now() / 1000 - timestamps[session.index];
    while (!signal.aborted && session.index < session.frames - 1) {
      const time = performance.now() / 1000 - begin;
      let next = session.index + 1;
      while (next < session.frames - 1 && timestamps[next + 1] <= time) next++;
      const wait = 1000 * (timestamps[next] - time);
      if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
      if (signal.aborted) return;
      session.index = next;
      this.changed();
      await this.show();
    }
  }
}
