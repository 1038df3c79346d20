/** The glass over the picture: the pointer that marks, and what it has marked. */
import type { Session } from '../editor/session';
import type { Marks, Point } from '../tracking/marks';
import { h } from './dom';
import type { Lens } from './lens';

/** `select`: a tap is a point, a drag is a box. */
export type Tool = 'select' | 'brush' | 'eraser';

export interface MarkActions {
  tap(point: Point, on: boolean): void;
  box(from: Point, to: Point): void;
  stroke(points: Point[], erase: boolean): void;
  /** The pointer rests here; null: it goes on. */
  rest(point: Point | null): void;
}

/** Milliseconds after which a pointer rests. */
const REST = 220;

/** A drag shorter than this on screen is a tap. */
const TAP = 6;

export class Marker {
  tool: Tool = 'select';
  /** Whether taps say what is the object, or what is not. */
  adding = true;
  /** Half the brush's width, in pixels of the video. */
  brush = 12;
  session: Session | undefined;
  /** Whether taps are shown. */
  shown = true;

  readonly canvas = h('canvas', {
    class: 'marks',
    role: 'application',
    tabindex: 0,
    'aria-label': 'Mark objects here: tap, drag a box, or move the crosshair with the arrow keys and press Enter',
  });
  private drag: { points: Point[]; on: boolean } | null = null;
  /** Fingers on the glass, in pixels of the page. */
  private readonly fingers = new Map<number, Point>();
  /** Where the pointer was that moves the picture; null where it marks. */
  private hand: Point | null = null;
  /** The space bar is held: drags move the picture. */
  private held: 'no' | 'yes' | 'used' = 'no';
  private resting: ReturnType<typeof setTimeout> | undefined;
  private hover: Point | null = null;
  /** The crosshair of those who mark with the keyboard, in pixels of the video. */
  private cursor: Point | null = null;
  private blank = true;

  /** `moved` is told when the lens has been moved. */
  constructor(
    private readonly actions: MarkActions,
    private readonly lens: Lens,
    private readonly moved: () => void,
  ) {
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', (event) => this.up(event));
    this.canvas.addEventListener('pointercancel', (event) => this.lift(event));
    this.canvas.addEventListener('pointerleave', (event) => this.lift(event));
    this.canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('focus', () => this.aim(this.canvas.matches(':focus-visible')));
    this.canvas.addEventListener('blur', () => this.aim(false));
  }

  /** The size on screen. */
  resize(width: number, height: number): void {
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    this.blank = true;
    this.draw();
  }

  /** Taps so far, the box or stroke under way, and the brush. */
  draw(): void {
    const { session } = this;
    // What is over the picture makes room for a drag.
    const moving = this.hand !== null || this.fingers.size > 1 || Boolean(this.drag && this.isDrag());
    this.canvas.classList.toggle('dragging', moving);
    const taps = session && this.shown && session.busy !== 'tracking' ? session.masks?.marks : undefined;
    const painting = this.tool === 'brush' || this.tool === 'eraser';
    const anything = Boolean(taps?.size || this.drag || this.cursor || (painting && this.hover));
    if (!anything && this.blank) return; // an untouched canvas costs nothing
    this.blank = !anything;
    const context = this.canvas.getContext('2d')!;
    context.resetTransform();
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!session) return;
    const { left, top, width } = this.lens.part;
    const scale = this.canvas.width / width;
    context.translate(-left * scale, -top * scale);
    const color = session.state.objects.find((o) => o.id === session.active)?.color ?? '#5ef2c2';
    if (taps) this.drawTaps(context, taps, scale);
    if (this.drag && !painting && this.isDrag()) drawBox(context, this.drag.points, scale, color);
    if (this.cursor) drawCross(context, this.cursor.x * scale, this.cursor.y * scale);
    if (painting) this.drawBrush(context, scale, color);
  }

  /** The space bar goes down: until it comes up, drags move the picture. */
  hold(): void {
    if (this.held === 'no') this.held = 'yes';
    this.canvas.classList.add('grab');
  }

  /** It comes up; whether the picture was moved meanwhile. */
  letGo(): boolean {
    const used = this.held === 'used';
    this.held = 'no';
    this.canvas.classList.remove('grab');
    return used;
  }

  private aim(shown: boolean): void {
    const { width, height } = this.session?.source ?? { width: 0, height: 0 };
    this.cursor = shown && width ? { x: width / 2, y: height / 2 } : null;
    this.draw();
  }

  /** The pointer has moved, or done something: where it rests next is told. */
  private stir(event: PointerEvent | null): void {
    clearTimeout(this.resting);
    this.actions.rest(null);
    if (!event || event.pointerType !== 'mouse' || this.tool !== 'select' || this.drag || !this.adding) return;
    const point = this.point(event);
    this.resting = setTimeout(() => this.actions.rest(point), REST);
  }

  private lift(event: PointerEvent): void {
    this.stir(null);
    this.fingers.delete(event.pointerId);
    this.release();
  }

  private release(): void {
    this.drag = this.hover = this.hand = null;
    this.draw();
  }

  private down(event: PointerEvent): void {
    this.stir(null);
    if (event.pointerType === 'touch') this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.fingers.size > 1) return this.release(); // a second finger: no mark, but a pinch
    if (event.button === 1 || this.held !== 'no') {
      event.preventDefault();
      this.canvas.setPointerCapture(event.pointerId);
      this.hand = { x: event.clientX, y: event.clientY };
      return;
    }
    if (!this.session || this.session.busy || (event.button !== 0 && event.button !== 2)) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { points: [this.point(event)], on: this.adding && event.button === 0 && !event.altKey };
    this.draw();
  }

  private move(event: PointerEvent): void {
    if (!this.session) return;
    if (this.fingers.size > 1) return this.pinch(event);
    if (this.hand) return this.pan(event);
    this.hover = event.pointerType === 'touch' ? null : this.point(event);
    this.drag?.points.push(...coalesced(event).map((part) => this.point(part)));
    this.stir(event);
    this.draw();
  }

  /** Two fingers: what is between them stays between them. */
  private pinch(event: PointerEvent): void {
    if (!this.fingers.has(event.pointerId)) return;
    const box = this.canvas.getBoundingClientRect();
    const both = () => [...this.fingers.values()].slice(0, 2);
    const [a, b] = both();
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const [c, d] = both();
    const [du, dv] = [(c.x + d.x - a.x - b.x) / 2 / box.width, (c.y + d.y - a.y - b.y) / 2 / box.height];
    this.lens.pan(du, dv);
    const [u, v] = [((c.x + d.x) / 2 - box.left) / box.width, ((c.y + d.y) / 2 - box.top) / box.height];
    const apart = (p: Point, q: Point) => Math.max(1, Math.hypot(p.x - q.x, p.y - q.y));
    this.lens.zoomAt(u, v, apart(c, d) / apart(a, b));
    this.moved();
  }

  private pan(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const from = this.hand!;
    this.lens.pan((event.clientX - from.x) / box.width, (event.clientY - from.y) / box.height);
    this.hand = { x: event.clientX, y: event.clientY };
    if (this.held !== 'no') this.held = 'used';
    this.moved();
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.hand) return this.release();
    const { drag, session } = this;
    if (!drag || !session) return this.draw();
    this.drag = null;
    const [from, to] = [drag.points[0], this.point(event)];
    if (this.tool === 'brush' || this.tool === 'eraser') {
      this.actions.stroke([...drag.points, to], this.tool === 'eraser' || !drag.on);
    } else if (this.isDrag({ ...drag, points: [from, to] }) && drag.on) {
      this.actions.box(from, to);
    } else {
      this.actions.tap(from, drag.on);
    }
    this.draw();
  }

  /** Whether the pointer has gone far enough to mean more than a tap. */
  private isDrag(drag = this.drag!): boolean {
    const [from, to] = [drag.points[0], drag.points.at(-1)!];
    const scale = this.canvas.getBoundingClientRect().width / this.lens.part.width;
    return Math.hypot(to.x - from.x, to.y - from.y) * scale >= TAP;
  }

  /** Marking without a pointer: arrows move a crosshair, Enter marks with it, Shift and Enter take away. */
  private key(event: KeyboardEvent): void {
    const { session } = this;
    if (!session || session.busy || event.altKey || event.ctrlKey || event.metaKey) return;
    const { width, height } = session.source;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way && event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation(); // arrows go from frame to frame elsewhere
    const at = this.cursor ?? { x: width / 2, y: height / 2 };
    if (way) {
      const long = Math.max(width, height) / this.lens.zoom;
      const by = Math.max(1, Math.round(long * (event.shiftKey ? 0.05 : 0.01)));
      const moved = (value: number, step: number, size: number) => Math.min(Math.max(value + step * by, 0), size - 1);
      this.cursor = { x: moved(at.x, way[0], width), y: moved(at.y, way[1], height) };
    } else {
      this.actions.tap(at, this.adding && !event.shiftKey);
    }
    this.draw();
  }

  /** Where the pointer is in the video. */
  private point(event: PointerEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return this.lens.toVideo((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  }

  private drawTaps(context: CanvasRenderingContext2D, taps: ReadonlyMap<number, Marks>, scale: number): void {
    for (const [id, marks] of taps) {
      const color = this.session!.state.objects.find((o) => o.id === id)?.color ?? '#fff';
      for (const point of marks.on) drawTap(context, point.x * scale, point.y * scale, color, true);
      for (const point of marks.off) drawTap(context, point.x * scale, point.y * scale, '#14171f', false);
    }
  }

  private drawBrush(context: CanvasRenderingContext2D, scale: number, color: string): void {
    if (this.drag) {
      context.beginPath();
      this.drag.points.forEach(({ x, y }) => context.lineTo(x * scale, y * scale));
      context.lineCap = context.lineJoin = 'round';
      context.lineWidth = 2 * this.brush * scale;
      context.strokeStyle = this.tool === 'eraser' ? '#14171fb0' : `${color}b0`;
      context.stroke();
    }
    if (!this.hover) return;
    context.beginPath();
    context.arc(this.hover.x * scale, this.hover.y * scale, this.brush * scale, 0, 2 * Math.PI);
    context.lineWidth = 1.5 * devicePixelRatio;
    context.strokeStyle = '#fff';
    context.stroke();
  }
}

/** All places since the last event; browsers hand out only one a frame. */
function coalesced(event: PointerEvent): PointerEvent[] {
  const events = event.getCoalescedEvents?.() ?? [];
  return events.length ? events : [event];
}

function drawTap(context: CanvasRenderingContext2D, x: number, y: number, color: string, on: boolean): void {
  const radius = 7 * devicePixelRatio;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = color;
  context.fill();
  context.lineWidth = 2 * devicePixelRatio;
  context.strokeStyle = '#fff';
  context.stroke();
  context.beginPath();
  context.moveTo(x - radius / 2, y);
  context.lineTo(x + radius / 2, y);
  if (on) {
    context.moveTo(x, y - radius / 2);
    context.lineTo(x, y + radius / 2);
  }
  context.stroke();
}

/** Dark on light, so that it is seen on any picture. */
function drawCross(context: CanvasRenderingContext2D, x: number, y: number): void {
  const arm = 14 * devicePixelRatio;
  for (const [color, width] of [['#000', 5] as const, ['#fff', 2] as const]) {
    context.beginPath();
    context.moveTo(x - arm, y);
    context.lineTo(x + arm, y);
    context.moveTo(x, y - arm);
    context.lineTo(x, y + arm);
    context.lineWidth = width * devicePixelRatio;
    context.strokeStyle = color;
    context.stroke();
  }
}

function drawBox(context: CanvasRenderingContext2D, points: readonly Point[], scale: number, color: string): void {
  const [from, to] = [points[0], points.at(-1)!];
  const box = [from.x * scale, from.y * scale, (to.x - from.x) * scale, (to.y - from.y) * scale] as const;
  context.fillStyle = `${color}22`;
  context.fillRect(...box);
  context.strokeStyle = '#fff';
  context.lineWidth = 2 * devicePixelRatio;
  context.setLineDash([8 * devicePixelRatio, 5 * devicePixelRatio]);
  context.strokeRect(...box);
  context.setLineDash([]);
}
