/** The dialog in which results are exported. */
import { followed, jobOf, leftToFollow, partOf } from '../editor/tracked';
import type { Session } from '../editor/session';
import { runExport } from '../export/client';
import { FORMATS, PURPOSES, type Format, type FormatName } from '../export/formats';
import type { Range } from '../export/tracked';
import type { Look } from '../export/types';
import { h, iconButton } from './dom';
import { ICONS } from './icons';
import { choosePlace, download, sizeText, timeText } from './save';

/** Where the pace of earlier exports is remembered: seconds for a million pixels, by format. */
const PACE = 'export pace';

export interface ExportActions {
  /** Null where nothing is open. */
  session(): Session | null;
  /** Follow what is not followed yet. */
  follow(): void;
  /** A picture of the current frame with a look, or of its masks. */
  thumbnail(look: Look | null): Promise<ImageBitmap | null>;
}

export class ExportDialog {
  readonly element: HTMLDialogElement;
  private readonly progress = h('progress', { max: 1, value: 0, 'aria-label': 'Export' });
  private readonly working: HTMLElement;
  private readonly status = h('p', { class: 'status', role: 'status' });
  private readonly alert = h('p', { class: 'alert', role: 'alert' });
  private readonly buttons = new Map<FormatName, HTMLButtonElement>();
  private readonly thumbnail = h('canvas', { class: 'thumbnail', role: 'img', 'aria-label': 'What is exported' });
  private readonly facts = h('p', { class: 'facts' });
  private readonly go: HTMLButtonElement;
  private readonly cancel: HTMLButtonElement;
  private readonly looks: HTMLElement;
  /** What of the video is exported, where not all of it was followed. */
  private readonly part = h('div', { class: 'part', hidden: true });
  private readonly all = h('input', { type: 'checkbox', 'aria-label': 'All frames, with nothing in those' });
  private chosen: FormatName = 'mp4';
  private running = false;
  private abort: AbortController | undefined;
  private drawn = 0;

  constructor(
    looks: HTMLElement,
    private readonly actions: ExportActions,
  ) {
    this.looks = looks;
    const groups = PURPOSES.map(({ title, formats }) =>
      h(
        'section',
        { role: 'group', 'aria-label': title },
        h('h3', {}, title),
        h('div', { class: 'formats' }, ...formats.map((name) => this.button(name))),
      ),
    );
    this.go = h('button', { type: 'button', class: 'primary large go', on: { click: () => void this.save() } });
    this.go.innerHTML = `${ICONS.export}<span>Export</span>`;
    this.cancel = h('button', { type: 'button', class: 'quiet', on: { click: () => this.abort?.abort() } }, 'Cancel');
    this.working = h('div', { class: 'working', hidden: true }, this.status, this.progress, this.cancel);
    this.all.addEventListener('input', () => this.describe());
    this.element = h(
      'dialog',
      { class: 'sheet export', 'aria-label': 'Export' },
      h(
        'header',
        {},
        h('h2', {}, 'Export'),
        iconButton(ICONS.close, 'Close', 'Escape', () => this.element.close()),
      ),
      h(
        'div',
        { class: 'columns' },
        h('div', { class: 'kinds' }, ...groups),
        h('div', { class: 'shown' }, this.thumbnail, this.looks, this.part, this.facts),
      ),
      h('div', { class: 'act' }, this.working, this.alert, this.go),
    );
    this.element.addEventListener('close', () => this.abort?.abort());
    this.element.addEventListener('cancel', (event) => {
      if (!this.running) return;
      event.preventDefault(); // Escape: an export under way is ended by its own button only
      this.status.textContent = 'Still exporting. Cancel ends it.';
    });
  }

  open(): void {
    if (!this.actions.session()) return;
    this.alert.textContent = '';
    if (!this.running) this.working.hidden = true;
    this.element.showModal();
    this.choose(this.chosen);
    void this.checkH264();
  }

  /** Not every browser writes H.264: those who need it are told before they wait. */
  private async checkH264(): Promise<void> {
    const session = this.actions.session();
    if (!session || (await canWriteH264(session.source).catch(() => false))) return;
    for (const name of ['mp4', 'green'] as const) {
      this.buttons.get(name)!.querySelector('span')!.textContent = 'This browser cannot write H.264, others can';
    }
    if (this.chosen === 'mp4' && !this.running) this.choose('over');
  }

  /** The look or the edges have changed. */
  update(): void {
    if (this.element.open) void this.draw();
  }

  /** Here, because all else is behind the dialog. */
  failed(error: unknown): void {
    console.warn(error);
    this.alert.textContent = error instanceof Error ? error.message : String(error);
  }

  private button(name: FormatName): HTMLButtonElement {
    const { title, text } = FORMATS[name];
    const button = h(
      'button',
      { type: 'button', class: 'format', 'data-format': name, on: { click: () => this.choose(name) } },
      h('strong', {}, title),
      h('span', {}, text),
    );
    this.buttons.set(name, button);
    return button;
  }

  private choose(name: FormatName): void {
    this.chosen = name;
    for (const [other, button] of this.buttons) button.setAttribute('aria-pressed', String(other === name));
    this.looks.hidden = !FORMATS[name].over;
    this.describe();
    void this.draw();
  }

  /** How much is exported, and about how long it takes. */
  private describe(): void {
    const session = this.actions.session();
    if (!session) return;
    const format = FORMATS[this.chosen];
    const { width, height, timestamps, durations } = session.source;
    const { first, last } = this.range(session, format);
    const frames = last - first + 1;
    const seconds = timestamps[last] + durations[last] - timestamps[first];
    const whole = first === last ? `Frame ${first + 1}` : `Frames ${first + 1} to ${last + 1}, ${seconds.toFixed(1)} s`;
    const pace = paces()[this.chosen];
    const time = pace ? `, about ${timeText((pace * frames * width * height) / 1e6)} to write` : '';
    this.facts.textContent = `${whole}, ${width} x ${height}${time}`;
    this.say(session, format);
  }

  /** How much was followed, where it is not all. */
  private say(session: Session, format: Format): void {
    const { first, last, missing } = followed(session);
    const left = leftToFollow(session);
    const frames = session.range.last - session.range.first + 1;
    this.part.hidden = left === 0 || !format.whole;
    const holes = missing ? `, of which ${missing} ${missing === 1 ? 'is' : 'are'} empty` : '';
    const some = first === last ? `frame ${first + 1}` : `frames ${first + 1} to ${last + 1}`;
    const rest = h('button', { type: 'button', class: 'secondary', on: { click: () => this.followRest() } });
    rest.textContent = 'Follow the rest';
    this.part.replaceChildren(
      h('p', {}, `${left} of ${frames} frames are not followed. Exports take ${some}${holes}.`),
      h('div', {}, rest, h('label', {}, this.all, 'All frames, with nothing in those')),
    );
  }

  private followRest(): void {
    this.element.close();
    this.actions.follow();
  }

  private range(session: Session, format: Format): Range {
    if (!format.whole) return { first: session.index, last: session.index };
    return this.all.checked ? session.range : followed(session);
  }

  /** The current frame as it will be. */
  private async draw(): Promise<void> {
    const session = this.actions.session();
    if (!session) return;
    const turn = ++this.drawn;
    const picture = await this.actions.thumbnail(FORMATS[this.chosen].look(session.look)).catch(() => null);
    if (turn !== this.drawn || !picture) return;
    [this.thumbnail.width, this.thumbnail.height] = [picture.width, picture.height];
    this.thumbnail.getContext('2d')!.drawImage(picture, 0, 0);
    picture.close();
  }

  private async save(): Promise<void> {
    const session = this.actions.session();
    if (!session || this.running) return;
    const format = FORMATS[this.chosen];
    const { state, source } = session;
    const name = `${source.name.replace(/\.[^.]+$/, '')}-${format.ending}`;
    const place = await choosePlace(name, format.type);
    if (!place) return;
    this.abort = new AbortController();
    this.busy(true, `${format.title}: starting`);
    try {
      const range = this.range(session, format);
      const began = performance.now();
      const progress = (done: number, total: number, bytes: number) => {
        const left = ((performance.now() - began) / 1000 / done) * (total - done);
        this.progress.value = done / total;
        const size = bytes ? `, ${sizeText(bytes)}` : '';
        this.status.textContent = `${format.title}: frame ${done} of ${total}${size}, about ${timeText(left)} left`;
      };
      const part = (index: number, picture: boolean) => partOf(session, state, index, picture);
      const job = jobOf(session, this.chosen, range, place);
      const { bytes, file } = await runExport(job, { part, progress }, this.abort.signal);
      if (file) download(file, name, format.type);
      if (format.whole) session.saved(state);
      remember(this.chosen, (performance.now() - began) / 1000, range, source.width * source.height);
      this.status.textContent = `${format.title}: saved, ${sizeText(bytes)}.`;
      this.working.classList.add('done');
    } catch (error) {
      this.working.hidden = true;
      if (!this.abort.signal.aborted) this.failed(error);
    } finally {
      this.busy(false);
    }
  }

  private busy(busy: boolean, text?: string): void {
    this.running = busy;
    for (const button of this.buttons.values()) button.disabled = busy;
    this.go.hidden = busy;
    if (!busy) return;
    this.alert.textContent = '';
    this.working.hidden = false;
    this.working.classList.remove('done');
    this.progress.value = 0;
    this.status.textContent = text ?? '';
  }
}

async function canWriteH264({ width, height }: { width: number; height: number }): Promise<boolean> {
  if (typeof VideoEncoder === 'undefined') return false;
  const codec = width * height > 1920 * 1088 ? 'avc1.640033' : 'avc1.640028';
  return Boolean((await VideoEncoder.isConfigSupported({ codec, width, height })).supported);
}

function paces(): Partial<Record<FormatName, number>> {
  try {
    return JSON.parse(localStorage.getItem(PACE) ?? '{}') as Partial<Record<FormatName, number>>;
  } catch {
    return {};
  }
}

function remember(format: FormatName, seconds: number, { first, last }: Range, pixels: number): void {
  const pace = seconds / (((last - first + 1) * pixels) / 1e6);
  localStorage.setItem(PACE, JSON.stringify({ ...paces(), [format]: pace }));
}
