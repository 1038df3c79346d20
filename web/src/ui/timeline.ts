/** Where in the video: a filmstrip to scrub, and under it how far each frame is to be trusted. */
import type { Session } from '../editor/session';
import { trust } from '../editor/state';
import { h } from './dom';

/** Height of the pictures on screen. */
const FILM = 44;
const MOST_PICTURES = 24;

export class Timeline {
  readonly element: HTMLElement;
  private readonly film = h('canvas', { class: 'film', 'aria-hidden': 'true' });
  private readonly strip = h('canvas', { class: 'confidence', role: 'img' });
  private readonly head = h('div', { class: 'playhead' });
  private readonly range: HTMLInputElement;
  private session: Session | undefined;
  private pictures: ImageBitmap[] = [];
  private wanted = 1;

  constructor(seek: (index: number) => void) {
    this.range = h('input', { type: 'range', class: 'scrub', min: 0, step: 1, 'aria-label': 'Frame' });
    this.range.addEventListener('input', () => seek(Number(this.range.value)));
    this.element = h('div', { class: 'timeline' }, this.film, this.strip, this.head, this.range);
    new ResizeObserver(() => {
      this.update();
      this.drawFilm();
    }).observe(this.element);
  }

  open(session: Session): void {
    this.session = session;
    for (const picture of this.pictures) picture.close();
    this.pictures = [];
    this.update();
    this.drawFilm();
    void this.load(session);
  }

  update(): void {
    const session = this.session;
    if (!session) return;
    const last = Math.max(0, session.frames - 1);
    this.range.max = String(last);
    this.range.value = String(session.index);
    this.range.setAttribute('aria-valuetext', `Frame ${session.index + 1} of ${session.frames}`);
    this.head.style.left = `${100 * ((session.index + 0.5) / Math.max(1, session.frames))}%`;
    this.drawStrip(session);
  }

  /** A few pictures along the video, as they come. */
  private async load(session: Session): Promise<void> {
    try {
      this.wanted = this.count(session);
      for await (const picture of session.source.overview(this.wanted, 2 * FILM)) {
        if (session !== this.session) return picture.close();
        this.pictures.push(picture);
        this.drawFilm();
      }
    } catch {
      // An overview is a comfort; the frames themselves tell what is wrong.
    }
  }

  /** How many pictures fill the strip. */
  private count({ source }: Session): number {
    const { width } = this.element.getBoundingClientRect();
    return Math.max(4, Math.min(MOST_PICTURES, Math.ceil(width / ((FILM * source.width) / source.height))));
  }

  private drawFilm(): void {
    if (!this.session) return;
    const context = sized(this.film);
    const { width, height } = this.film;
    const room = width / this.wanted;
    this.pictures.forEach((picture, i) => {
      const scale = Math.max(room / picture.width, height / picture.height);
      const [w, ht] = [room / scale, height / scale];
      context.drawImage(
        picture,
        (picture.width - w) / 2,
        (picture.height - ht) / 2,
        w,
        ht,
        i * room,
        0,
        room + 1,
        height,
      );
    });
  }

  private drawStrip(session: Session): void {
    const context = sized(this.strip);
    const { width, height } = this.strip;
    const style = getComputedStyle(this.element);
    const [good, fair, bad, empty, drawnColor] = ['good', 'fair', 'bad', 'line', 'text'].map((name) =>
      style.getPropertyValue(`--${name}`),
    );
    const room = width / session.frames;
    let followed = 0;
    let worst: [number, number] = [1, -1];
    for (let i = 0; i < session.frames; i++) {
      const masks = session.state.frames.get(i);
      const value = trust(masks);
      const x = Math.floor(i * room);
      const w = Math.max(1, Math.ceil((i + 1) * room) - x - (room > 4 * devicePixelRatio ? 1 : 0));
      if (value === null) {
        context.fillStyle = empty;
        context.fillRect(x, height - 2 * devicePixelRatio, w, 2 * devicePixelRatio);
        continue;
      }
      followed++;
      if (value < worst[0]) worst = [value, i];
      context.fillStyle = value >= 0.75 ? good : value >= 0.5 ? fair : bad;
      // The less certain, the taller: what needs a look stands out without its colour, too.
      const tall = 0.28 + 0.72 * Math.min(1, Math.max(0, (0.9 - value) / 0.6));
      context.fillRect(x, height * (1 - tall), w, height * tall);
      if (masks!.drawn.size) diamond(context, (i + 0.5) * room, height * 0.36, 4 * devicePixelRatio, drawnColor);
    }
    const least = worst[1] >= 0 ? `; least certain at frame ${worst[1] + 1} (${Math.round(100 * worst[0])} %)` : '';
    this.strip.setAttribute('aria-label', `${followed} of ${session.frames} frames followed${least}`);
  }
}

/** The canvas at the pixels of the screen, empty. */
function sized(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const width = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
  const height = Math.max(1, Math.round(canvas.clientHeight * devicePixelRatio));
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('2d')!;
  context.clearRect(0, 0, width, height);
  return context;
}

function diamond(context: CanvasRenderingContext2D, x: number, y: number, r: number, color: string): void {
  context.beginPath();
  context.moveTo(x, y - r);
  context.lineTo(x + r, y);
  context.lineTo(x, y + r);
  context.lineTo(x - r, y);
  context.fillStyle = color;
  context.fill();
}
