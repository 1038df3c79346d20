/** Where in the video: a filmstrip to scrub, a lane for each object, and where it begins and ends. */
import { doubtsAt, doubtText, isDoubtful, placeText, type Place } from '../editor/doubt';
import type { Session } from '../editor/session';
import { trust } from '../editor/state';
import { h } from './dom';

/** Height of the pictures on screen. */
const FILM = 44;
const MOST_PICTURES = 24;
/** Height of a lane on screen. */
const LANE = 10;
/** A finger that moves less than this has tapped, not dragged. In pixels of the screen. */
const STILL = 4;

export interface TimelineActions {
  seek(index: number): void;
  /** Begin or end here. */
  cut(range: { first: number } | { last: number }): void;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly film = h('canvas', { class: 'film', 'aria-hidden': 'true' });
  private readonly strip = h('canvas', { class: 'confidence', role: 'img' });
  private readonly head = h('div', { class: 'playhead' });
  private readonly before = h('div', { class: 'outside' });
  private readonly after = h('div', { class: 'outside' });
  private readonly range: HTMLInputElement;
  private readonly points: { first: HTMLElement; last: HTMLElement };
  private session: Session | undefined;
  private pictures: ImageBitmap[] = [];
  private wanted = 1;
  private places: readonly Place[] = [];

  constructor(private readonly actions: TimelineActions) {
    this.range = h('input', { type: 'range', class: 'scrub', min: 0, step: 1, 'aria-label': 'Frame' });
    this.range.addEventListener('input', () => actions.seek(Number(this.range.value)));
    this.range.addEventListener('pointermove', (event) => (this.range.title = this.said(event)));
    this.points = { first: this.point('first', 'In point'), last: this.point('last', 'Out point') };
    this.element = h(
      'div',
      { class: 'timeline' },
      this.film,
      this.strip,
      this.before,
      this.after,
      this.head,
      this.range,
      this.points.first,
      this.points.last,
    );
    new ResizeObserver(() => {
      this.update(this.places);
      this.drawFilm();
    }).observe(this.element);
  }

  open(session: Session): void {
    this.session = session;
    for (const picture of this.pictures) picture.close();
    this.pictures = [];
    this.update([]);
    this.drawFilm();
    void this.load(session);
  }

  /** `places`: those to check. */
  update(places: readonly Place[]): void {
    const session = this.session;
    this.places = places;
    if (!session) return;
    const { frames, index, range } = session;
    this.range.max = String(Math.max(0, frames - 1));
    this.range.value = String(index);
    this.range.setAttribute('aria-valuetext', `Frame ${index + 1} of ${frames}`);
    const percent = (at: number) => `${100 * (at / Math.max(1, frames))}%`;
    this.head.style.left = percent(index + 0.5);
    Object.assign(this.before.style, { left: '0', width: percent(range.first) });
    Object.assign(this.after.style, { left: percent(range.last + 1), width: percent(frames - 1 - range.last) });
    for (const end of ['first', 'last'] as const) {
      const point = this.points[end];
      point.style.left = percent(end === 'first' ? range.first : range.last + 1);
      point.setAttribute('aria-valuemax', String(frames));
      point.setAttribute('aria-valuenow', String(range[end] + 1));
      point.setAttribute('aria-valuetext', `Frame ${range[end] + 1}`);
    }
    this.element.classList.toggle('cut', session.isPart);
    const lanes = Math.max(2, session.state.objects.length) * LANE;
    this.element.style.setProperty('--lanes', `${lanes}px`);
    this.drawStrip(session);
  }

  /** What is the matter where the pointer is: in the lane of an object, or with all of them over the pictures. */
  private said({ clientX, clientY }: PointerEvent): string {
    const { session, places } = this;
    if (!session) return '';
    const { objects, frames: known } = session.state;
    const box = this.strip.getBoundingClientRect();
    const index = clamped(Math.floor(((clientX - box.left) / box.width) * session.frames), session.frames);
    const lane = clientY < box.top ? null : objects[Math.floor(((clientY - box.top) / box.height) * objects.length)];
    return doubtsAt(known.get(index), index, places)
      .filter(({ id }) => !lane || id === lane.id)
      .map((doubt) => ('first' in doubt ? placeText(doubt, objects) : doubtText(doubt, objects)))
      .join('\n');
  }

  /** A handle that is dragged, or moved by the arrows. */
  private point(end: 'first' | 'last', label: string): HTMLElement {
    const point = h('div', {
      class: `cut-point ${end}`,
      role: 'slider',
      tabindex: 0,
      'aria-label': label,
      'aria-valuemin': 1,
      title: `${label}: drag it (${end === 'first' ? 'I' : 'O'} sets it here)`,
    });
    const cut = (index: number) => this.actions.cut(end === 'first' ? { first: index } : { last: index });
    /** Where between two frames something on the screen is. */
    const between = (x: number) => {
      const box = this.element.getBoundingClientRect();
      return ((x - box.left) / box.width) * (this.session?.frames ?? 0);
    };
    /** Where it was taken, and how far that is from where it stands: the point stays under the finger as it was. */
    let held: { x: number; off: number; moved: boolean } | null = null;
    point.addEventListener('pointerdown', (event) => {
      if (!this.session) return;
      event.preventDefault();
      point.setPointerCapture(event.pointerId);
      const stands = end === 'first' ? this.session.range.first : this.session.range.last + 1;
      held = { x: event.clientX, off: between(event.clientX) - stands, moved: false };
    });
    point.addEventListener('pointermove', (event) => {
      if (!held) return;
      held.moved ||= Math.abs(event.clientX - held.x) >= STILL;
      if (!held.moved) return;
      const at = Math.round(between(event.clientX) - held.off);
      cut(end === 'first' ? at : at - 1);
    });
    point.addEventListener('pointerup', (event) => {
      // It is larger than it looks: a tap is meant for the picture under it.
      const index = Math.floor(between(event.clientX));
      if (held && !held.moved && this.session) this.actions.seek(clamped(index, this.session.frames));
      held = null;
    });
    point.addEventListener('pointercancel', () => (held = null));
    point.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !this.session) return;
      event.preventDefault();
      event.stopPropagation();
      cut(this.session.range[end] + step * (event.shiftKey ? 10 : 1));
    });
    return point;
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
      const [x, y] = [(picture.width - w) / 2, (picture.height - ht) / 2];
      context.drawImage(picture, x, y, w, ht, i * room, 0, room + 1, height);
    });
  }

  /** One lane an object, in its colour: full where it was found, hatched where that is doubtful, a line elsewhere. */
  private drawStrip(session: Session): void {
    const context = sized(this.strip);
    const { width, height } = this.strip;
    const { objects, frames: known } = session.state;
    const style = getComputedStyle(this.element);
    const [empty, text] = ['line', 'text'].map((name) => style.getPropertyValue(`--${name}`));
    const room = width / session.frames;
    const tall = height / Math.max(1, objects.length);
    const gap = Math.min(2 * devicePixelRatio, tall / 5);
    let worst: [number, number] = [1, -1];
    const lanes = objects.length ? objects : [{ id: 0, color: empty }];
    lanes.forEach(({ id, color }, lane) => {
      const top = lane * tall + gap;
      const hatched = hatching(context, color);
      context.fillStyle = empty;
      context.fillRect(0, top + (tall - 2 * gap) / 2 - devicePixelRatio / 2, width, devicePixelRatio);
      for (let i = 0; i < session.frames; i++) {
        const masks = known.get(i);
        const at = masks ? masks.ids.indexOf(id) : -1;
        if (at < 0) continue;
        const x = Math.floor(i * room);
        context.fillStyle = isDoubtful(masks!, at) ? hatched : color;
        context.fillRect(x, top, Math.max(1, Math.ceil((i + 1) * room) - x), tall - 2 * gap);
      }
      for (const [i, masks] of known) {
        if (masks.drawn.has(id)) diamond(context, (i + 0.5) * room, top + (tall - 2 * gap) / 2, tall / 2.4, text);
      }
    });
    for (const [i, masks] of known) {
      const value = trust(masks);
      if (value !== null && value < worst[0]) worst = [value, i];
    }
    const least = worst[1] >= 0 ? `; least certain at frame ${worst[1] + 1} (${Math.round(100 * worst[0])} %)` : '';
    const said = this.places.map((place) => `; ${placeText(place, objects)}`).join('');
    this.strip.setAttribute('aria-label', `${known.size} of ${session.frames} frames followed${least}${said}`);
  }
}

/** The number of a frame that there is. */
function clamped(index: number, frames: number): number {
  return Math.min(Math.max(index, 0), Math.max(0, frames - 1));
}

/** Stripes of a colour over a dark ground: what is doubtful is told without colours, too. */
function hatching(context: CanvasRenderingContext2D, color: string): CanvasPattern | string {
  const side = Math.round(6 * devicePixelRatio);
  const tile = new OffscreenCanvas(side, side);
  const pen = tile.getContext('2d')!;
  pen.fillStyle = '#14171f';
  pen.fillRect(0, 0, side, side);
  pen.strokeStyle = color;
  pen.lineWidth = side / 2.4;
  for (const shift of [-side, 0, side]) {
    pen.beginPath();
    pen.moveTo(shift - side / 2, side * 1.5);
    pen.lineTo(shift + side * 1.5, -side / 2);
    pen.stroke();
  }
  return context.createPattern(tile as unknown as HTMLCanvasElement, 'repeat') ?? color;
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
