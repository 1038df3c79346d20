/** The dialog in which results are exported. */
import { followed, trackedVideo } from '../editor/tracked';
import type { Session } from '../editor/session';
import { exportCoco } from '../export/coco';
import { exportMasksZip } from '../export/masks';
import { exportStill } from '../export/still';
import type { Background, Progress, TrackedVideo } from '../export/types';
import { exportMp4, exportWebm } from '../export/film';
import { h, iconButton } from './dom';
import { ICONS } from './icons';

interface Format {
  title: string;
  text: string;
  ending: string;
  /** Whether the background that is chosen matters. */
  over: boolean;
  /** Whether it holds all frames, so that nothing is lost when the video is closed. */
  whole: boolean;
  make(video: TrackedVideo, session: Session, background: Background, p: Progress, s: AbortSignal): Promise<Blob>;
}

const FORMATS: Record<string, Format> = {
  transparent: {
    title: 'Transparent video',
    text: 'WebM with alpha, for video editors and web pages',
    ending: 'cutout.webm',
    over: false,
    whole: true,
    make: (video, _session, _background, progress, signal) =>
      exportWebm(video, { kind: 'transparent' }, progress, signal),
  },
  over: {
    title: 'Video over a background',
    text: 'WebM: the objects over a colour, a blur or your picture',
    ending: 'composed.webm',
    over: true,
    whole: true,
    make: (video, _session, background, progress, signal) => exportWebm(video, background, progress, signal),
  },
  mp4: {
    title: 'MP4',
    text: 'H.264 with sound, to post or send: the objects over a colour, a blur or your picture',
    ending: 'composed.mp4',
    over: true,
    whole: true,
    make: (video, _session, background, progress, signal) => exportMp4(video, background, progress, signal),
  },
  matte: {
    title: 'Matte',
    text: 'WebM in black and white, for editors that read no transparency',
    ending: 'matte.webm',
    over: false,
    whole: true,
    make: (video, _session, _background, progress, signal) => exportWebm(video, { kind: 'matte' }, progress, signal),
  },
  masks: {
    title: 'Masks',
    text: 'Zip of palette PNGs, one a frame, as DAVIS has them',
    ending: 'masks.zip',
    over: false,
    whole: true,
    make: (video, _session, _background, progress, signal) => exportMasksZip(video, progress, signal),
  },
  coco: {
    title: 'COCO JSON',
    text: 'Outlines as run lengths, for labelling and training',
    ending: 'coco.json',
    over: false,
    whole: true,
    make: (video, _session, _background, progress, signal) => exportCoco(video, progress, signal),
  },
  still: {
    title: 'This frame',
    text: 'PNG of the cut-out, over the background below',
    ending: 'still.png',
    over: true,
    whole: false,
    make: (video, _session, background) => exportStill(video, 0, background),
  },
};

export class ExportDialog {
  readonly element: HTMLDialogElement;
  private readonly progress = h('progress', { max: 1, value: 0, 'aria-label': 'Export' });
  private readonly working: HTMLElement;
  private readonly status = h('p', { class: 'status', role: 'status' });
  private readonly alert = h('p', { class: 'alert', role: 'alert' });
  private readonly formats: HTMLElement;
  /** What of the video is exported, where not all of it was followed. */
  private readonly part = h('div', { class: 'part', hidden: true });
  private readonly all = h('input', { type: 'checkbox', id: 'export-all' });
  private abort: AbortController | undefined;

  constructor(
    backgrounds: HTMLElement,
    private readonly current: () => { session: Session; background: Background } | null,
  ) {
    const buttons = Object.entries(FORMATS).map(([key, format]) =>
      h(
        'button',
        { type: 'button', class: 'format', 'data-format': key, on: { click: () => void this.save(format) } },
        h('strong', {}, format.title),
        h('span', {}, format.text),
      ),
    );
    this.formats = h('div', { class: 'formats' }, ...buttons);
    const cancel = h('button', { type: 'button', class: 'quiet', on: { click: () => this.abort?.abort() } }, 'Cancel');
    this.working = h('div', { class: 'working', hidden: true }, this.status, this.progress, cancel);
    this.element = h(
      'dialog',
      { class: 'sheet', 'aria-label': 'Export' },
      h(
        'header',
        {},
        h('h2', {}, 'Export'),
        iconButton(ICONS.close, 'Close', 'Escape', () => this.element.close()),
      ),
      this.part,
      this.formats,
      h('h3', {}, 'Background'),
      backgrounds,
      this.working,
      this.alert,
    );
    this.element.addEventListener('close', () => this.abort?.abort());
    this.element.addEventListener('cancel', (event) => {
      if (!this.running) return;
      event.preventDefault(); // Escape: an export under way is ended by its own button only
      this.status.textContent = 'Still exporting. Cancel ends it.';
    });
  }

  private get running(): boolean {
    return this.formats.querySelector('button')!.disabled;
  }

  open(): void {
    this.alert.textContent = '';
    const now = this.current();
    if (now) this.say(now.session);
    this.element.showModal();
  }

  /** Here, because all else is behind the dialog. */
  failed(error: unknown): void {
    console.warn(error);
    this.alert.textContent = error instanceof Error ? error.message : String(error);
  }

  /** How much was followed, where it is not all. */
  private say(session: Session): void {
    const { first, last, missing } = followed(session);
    const { frames } = session;
    const left = frames - (last - first + 1) + missing;
    this.part.hidden = left === 0;
    const holes = missing ? `, of which ${missing} are empty` : '';
    const some = first === last ? `frame ${first + 1}` : `frames ${first + 1} to ${last + 1}`;
    this.part.replaceChildren(
      h(
        'p',
        {},
        `${left} of ${frames} frames are not followed. Exports take ${some}${holes}. Follow the rest for more.`,
      ),
      h('label', { for: 'export-all' }, this.all, 'All frames, with nothing in those'),
    );
  }

  private async save(format: Format): Promise<void> {
    const now = this.current();
    if (!now) return;
    const { session, background } = now;
    const { state } = session;
    this.abort = new AbortController();
    this.busy(true, `${format.title}: starting`);
    try {
      const progress: Progress = (done, total) => {
        this.progress.value = done / total;
        this.status.textContent = `${format.title}: frame ${done} of ${total}`;
      };
      const known = followed(session);
      const every = { first: 0, last: session.frames - 1 };
      const one = { first: session.index, last: session.index };
      const range = !format.whole ? one : this.all.checked ? every : known;
      const blob = await format.make(trackedVideo(session, range), session, background, progress, this.abort.signal);
      download(blob, `${session.source.name.replace(/\.[^.]+$/, '')}-${format.ending}`);
      if (format.whole) session.saved(state);
      this.status.textContent = `${format.title}: saved, ${size(blob.size)}.`;
      this.working.classList.add('done');
    } catch (error) {
      this.working.hidden = true;
      if (!this.abort.signal.aborted) this.failed(error);
    } finally {
      this.busy(false);
    }
  }

  private busy(busy: boolean, text?: string): void {
    for (const button of this.formats.querySelectorAll('button')) button.disabled = busy;
    if (busy) {
      this.alert.textContent = '';
      this.working.hidden = false;
      this.working.classList.remove('done');
      this.progress.value = 0;
      this.status.textContent = text ?? '';
    }
  }
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the download reads it for a while
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
