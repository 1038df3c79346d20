/** Keeps a session on the device while it is worked on. */
import { imageOf, settingsOf } from './kept';
import type { Session } from './session';
import { keep, keepVideo, type Changes } from './shelf';
import { EMPTY, type State } from './state';

/** Milliseconds from a change to its being kept: many changes are kept at once. */
const SOON = 700;
const PICTURE = 160;

export class Autosave {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private saving: Promise<void> = Promise.resolve();
  private settings = '';
  private broken = false;
  private closed = false;
  private videoKept: boolean;

  /** `saved`: what is kept already, and `id` what it is kept under; `failed` is told once. */
  constructor(
    private readonly session: Session,
    private readonly failed: (error: unknown) => void,
    readonly id: string = newId(),
    private saved: State = EMPTY,
  ) {
    this.videoKept = saved !== EMPTY;
  }

  /** Something may have changed. */
  changed(): void {
    if (this.timer || this.broken || this.closed || !this.pending()) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.now();
    }, SOON);
  }

  /** Keep what there is. */
  now(): Promise<void> {
    this.saving = this.saving.then(() => this.save()).catch((error: unknown) => this.tell(error));
    return this.saving;
  }

  /** The session is left: keep the rest of it, and then no more. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    if (!this.broken && this.pending()) await this.now();
    this.closed = true;
  }

  private pending(): boolean {
    const { state } = this.session;
    if (state === this.saved) return state.frames.size > 0 && this.settings !== this.settingsNow();
    return state.frames.size > 0 || this.saved.frames.size > 0;
  }

  private async save(): Promise<void> {
    if (this.broken || this.closed || !this.pending()) return;
    const { session } = this;
    const { state } = session;
    const settings = this.settingsNow();
    if (!this.videoKept) await keepVideo(this.id, session.source.file);
    this.videoKept = true;
    const card = {
      id: this.id,
      saved: Date.now(),
      followed: state.frames.size,
      settings: settingsOf(session),
      image: await imageOf(session),
      picture: await this.picture(),
    };
    await keep(card, changes(this.saved, state));
    this.saved = state;
    this.settings = settings;
    session.saved(state);
    if (session.state !== state) this.changed();
  }

  private settingsNow(): string {
    return JSON.stringify(settingsOf(this.session));
  }

  private async picture(): Promise<Blob | null> {
    const { source, index } = this.session;
    const frame = await source.frame(index);
    const canvas = new OffscreenCanvas(PICTURE, Math.max(1, Math.round((PICTURE * source.height) / source.width)));
    canvas.getContext('2d')!.drawImage(frame, 0, 0, canvas.width, canvas.height);
    return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.8 });
  }

  private tell(error: unknown): void {
    this.broken = true;
    this.failed(error);
  }
}

/** Later ones come later; `crypto.randomUUID` is missing where a page came without encryption. */
function newId(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
}

/** What is not the same in two states. */
export function changes(before: State, after: State): Changes {
  return {
    put: [...after.frames].filter(([index, masks]) => before.frames.get(index) !== masks),
    gone: [...before.frames.keys()].filter((index) => !after.frames.has(index)),
  };
}
