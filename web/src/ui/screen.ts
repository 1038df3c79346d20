/** The screen on which a video is worked on. */
import { Player } from '../editor/player';
import type { Network } from '../editor/network';
import type { Quality } from '../editor/pace';
import { Session } from '../editor/session';
import { trust } from '../editor/state';
import { startOf } from '../editor/track';
import type { Background } from '../export/types';
import type { Point } from '../tracking/marks';
import { CameraVideo, MOST_FRAMES } from '../video/camera';
import type { VideoSource } from '../video/source';
import { advice } from './advice';
import { BackgroundPicker } from './background';
import { choice, h } from './dom';
import { ICONS } from './icons';
import type { Tool } from './marker';
import type { Notices } from './notice';
import { ObjectList } from './objects';
import { QualityPicker } from './quality';
import type { Shortcut } from './shortcuts';
import { Stage, type View } from './stage';
import { ExportDialog } from './export';
import { Timeline } from './timeline';
import { Toolbar } from './toolbar';
import { Transport } from './transport';

const VIEWS: { value: View; text: string; hint: string }[] = [
  { value: 'overlay', text: 'Outline', hint: 'The objects in colour over the video' },
  { value: 'cutout', text: 'Cut-out', hint: 'The objects over the background' },
  { value: 'compare', text: 'Before / after', hint: 'Both, with a slider between them' },
];

export class EditorScreen {
  readonly element: HTMLElement;
  readonly dialog: HTMLDialogElement;
  private readonly stage: Stage;
  private readonly toolbar: Toolbar;
  private readonly objects: ObjectList;
  private readonly timeline: Timeline;
  private readonly transport: Transport;
  private readonly exportDialog: ExportDialog;
  private readonly views: ReturnType<typeof choice<View>>;
  private readonly quality: QualityPicker;
  private readonly hint = h('p', { class: 'hint', role: 'status' });
  /** For the bar at the top. */
  readonly exportButton: HTMLButtonElement;
  private readonly pickers: BackgroundPicker[];
  private session: Session | undefined;
  private player: Player | undefined;
  private camera: CameraVideo | null = null;
  private updating = false;

  constructor(
    private readonly network: Network,
    private readonly notices: Notices,
    initial: Quality,
  ) {
    const failed = (error: unknown) => notices.error(error);
    this.stage = new Stage({
      tap: (point, on) => this.mark((session) => session.tap(point, on)),
      box: (from, to) => this.mark((session) => session.box(boxOf(from, to))),
      stroke: (points, erase) => this.mark((session) => session.stroke(points, this.stage.marker.brush, erase)),
    });
    this.toolbar = new Toolbar(this.stage.marker, {
      use: (tool) => this.use(tool),
      sign: () => this.sign(),
      undo: () => this.edit((session) => session.undo()),
      redo: () => this.edit((session) => session.redo()),
    });
    this.objects = new ObjectList({
      choose: (id) => this.choose(id),
      rename: (id, name) => this.edit((session) => session.rename(id, name)),
      remove: (id) => this.edit((session) => session.remove(id)),
      add: () => this.edit((session) => session.addObject()),
      hide: () => this.edit((session) => session.clear()),
    });
    this.timeline = new Timeline((index) => void this.player?.seek(index).catch(failed));
    this.transport = new Transport({
      step: (by) => this.step(by),
      toggle: () => this.toggle(),
      follow: (direction) => this.follow(direction),
      doubt: () => this.doubt(),
    });
    this.views = choice('View', VIEWS, (view) => this.look(view));
    const inDialog = (error: unknown) => this.exportDialog.failed(error);
    this.pickers = [failed, inDialog].map((say) => new BackgroundPicker((background) => this.over(background), say));
    this.exportDialog = new ExportDialog(this.pickers[1].element, () =>
      this.session ? { session: this.session, background: this.stage.background } : null,
    );
    this.dialog = this.exportDialog.element;
    this.quality = new QualityPicker(initial, (quality) => this.session?.setQuality(quality));
    this.exportButton = h('button', {
      type: 'button',
      class: 'primary',
      hidden: true,
      on: { click: () => this.exportDialog.open() },
    });
    this.exportButton.innerHTML = `${ICONS.export}<span>Export</span>`;
    this.element = h(
      'main',
      { class: 'editor', hidden: true },
      this.toolbar.element,
      h('div', { class: 'centre' }, this.stage.element, this.hint),
      h(
        'aside',
        { class: 'panel', 'aria-label': 'Objects and view' },
        this.objects.element,
        h('section', { class: 'card' }, h('h2', {}, 'View'), this.views.element, this.pickers[0].element),
        this.quality.element,
      ),
      h('div', { class: 'bottom' }, this.timeline.element, this.transport.element),
    );
    this.views.set('overlay');
  }

  /** Whether there is work that would be lost. */
  get unsaved(): boolean {
    return Boolean(this.session?.unsaved);
  }

  async open(source: VideoSource): Promise<void> {
    await this.close();
    const session = new Session(source, this.network, this.quality.value, () => this.update());
    this.session = session;
    this.player = new Player(
      session,
      () => this.stage.draw(),
      () => this.update(),
      (error) => this.failed(error),
    );
    this.camera = source instanceof CameraVideo ? source : null;
    this.element.hidden = this.exportButton.hidden = false;
    this.element.classList.toggle('live', this.camera !== null);
    this.stage.open(session);
    this.update();
    // Whoever began to load it says what failed.
    void this.network.warm(session.marking).then(
      () => this.update(),
      () => undefined,
    );
    if (this.camera) return this.watch(this.camera);
    this.timeline.open(session);
    await this.stage.draw();
  }

  async close(): Promise<void> {
    await this.player?.pause();
    this.camera = null;
    this.session?.source.close();
    this.session = undefined;
    this.element.hidden = this.exportButton.hidden = true;
  }

  /** While the page is hidden a camera shows nothing new; everything else goes on. */
  async hidden(): Promise<void> {
    if (this.player?.mode !== 'live') return;
    await this.stopCamera();
    this.notices.say('Recording stopped when the page went to the background. What was recorded is here.');
  }

  shortcuts(): Shortcut[] {
    return [
      { key: 't', text: 'Select: tap it, or drag a box around it', act: () => this.use('select') },
      { key: 'b', text: '', act: () => this.use('select') },
      { key: 'p', text: 'Brush', act: () => this.use('brush') },
      { key: 'e', text: 'Eraser', act: () => this.use('eraser') },
      { key: 'x', text: 'Taps add or remove', act: () => this.sign() },
      { key: '[', text: 'Smaller brush', act: () => this.resize(0.8) },
      { key: ']', text: 'Larger brush', act: () => this.resize(1.25) },
      { key: 'z', text: 'Undo', act: () => this.edit((session) => session.undo()) },
      { key: 'shift+z', text: 'Redo', act: () => this.edit((session) => session.redo()) },
      { key: 'mod+z', text: '', act: () => this.edit((session) => session.undo()) },
      { key: 'mod+shift+z', text: '', act: () => this.edit((session) => session.redo()) },
      { key: 'mod+y', text: '', act: () => this.edit((session) => session.redo()) },
      { key: ' ', text: 'Play or pause', act: () => this.toggle() },
      { key: 'f', text: 'Follow', act: () => this.follow(1) },
      { key: 'shift+f', text: 'Follow back', act: () => this.follow(-1) },
      { key: 'arrowleft', text: 'Previous frame', act: () => this.step(-1) },
      { key: 'arrowright', text: 'Next frame', act: () => this.step(1) },
      { key: 'shift+arrowleft', text: 'Ten frames back', act: () => this.step(-10) },
      { key: 'shift+arrowright', text: 'Ten frames on', act: () => this.step(10) },
      { key: 'n', text: 'The least certain frame', act: () => this.doubt() },
      { key: 'v', text: 'Next view', act: () => this.nextView() },
      { key: 'o', text: 'New object', act: () => this.edit((session) => session.addObject()) },
      { key: 's', text: 'Export', act: () => !this.exportButton.disabled && this.exportDialog.open() },
    ];
  }

  private mark(work: (session: Session) => Promise<void>): void {
    const { session, player, camera } = this;
    if (!session || !player || session.busy || player.mode) return;
    this.notices.clear();
    const marked = async () => {
      if (camera) session.index = await camera.grab();
      await work(session);
      await this.stage.draw();
    };
    const failed = (error: unknown) => this.failed(error);
    const done = marked().catch(failed);
    if (camera) void done.then(() => this.record(session, player, camera)).catch(failed);
  }

  /** Follow live what was marked in the camera's picture; where nothing was, forget that picture. */
  private async record(session: Session, player: Player, camera: CameraVideo): Promise<void> {
    if (!session.masks) return camera.clear();
    await player.live(camera);
    if (this.camera !== camera) return;
    if (session.frames >= MOST_FRAMES) {
      this.notices.say(`Recording ended after ${MOST_FRAMES} frames, which is as much as is kept. Your work is here.`);
    }
    await this.stopCamera();
  }

  private edit(work: (session: Session) => void): void {
    const { session } = this;
    if (!session || session.busy) return;
    try {
      work(session);
    } catch (error) {
      this.notices.error(error);
    }
    this.update();
    if (session.frames) void this.stage.draw();
  }

  /** Also while the network is busy: it knows which object it works on. */
  private choose(id: number): void {
    if (this.session) this.session.active = id;
    this.update();
    this.stage.marker.draw();
  }

  private use(tool: Tool): void {
    this.stage.marker.tool = tool;
    if (this.stage.view !== 'overlay') this.look('overlay');
    this.update();
    this.stage.marker.draw();
  }

  private sign(): void {
    this.stage.marker.adding = !this.stage.marker.adding;
    this.update();
  }

  private resize(factor: number): void {
    this.stage.marker.brush = Math.max(1, this.stage.marker.brush * factor);
    this.update();
    this.stage.marker.draw();
  }

  private look(view: View): void {
    this.stage.view = view;
    this.views.set(view);
    void this.stage.draw();
    this.update();
  }

  private nextView(): void {
    this.look(VIEWS[(VIEWS.findIndex(({ value }) => value === this.stage.view) + 1) % VIEWS.length].value);
  }

  private over(background: Background): void {
    this.stage.background = background;
    for (const picker of this.pickers) picker.show(background);
    if (this.stage.view === 'overlay') this.look('cutout');
    else void this.stage.draw();
  }

  private step(by: number): void {
    void this.player?.seek((this.session?.index ?? 0) + by).catch((error: unknown) => this.failed(error));
  }

  private toggle(): void {
    if (this.player?.mode === 'live') void this.stopCamera();
    else if (this.player?.mode) void this.player.pause();
    else this.player?.play();
  }

  private follow(direction: 1 | -1): void {
    this.notices.clear();
    const { player, session } = this;
    if (player?.mode) return void player.pause();
    const from = session && startOf(session.state, session.index, direction);
    if (!from || !player) return;
    // Where nothing is known here yet, it is followed to here, from where it is known.
    void player
      .seek(from.index)
      .then(() => player.follow(from.direction))
      .catch((error: unknown) => this.failed(error));
  }

  /** To the frame that most needs a look; from there on the next. */
  private doubt(): void {
    const { session } = this;
    if (!session) return;
    const doubtful = [...session.state.frames]
      .filter(([, masks]) => masks.ids.some((id) => !masks.drawn.has(id)))
      .sort(([, a], [, b]) => trust(a)! - trust(b)!);
    if (doubtful.length) void this.player?.seek(doubtful[0][0]);
  }

  /** The camera's picture, until an object is tapped. */
  private watch(camera: CameraVideo): void {
    const draw = () => {
      if (this.camera !== camera) return;
      if (camera.turned()) this.stage.open(this.session!);
      if (!this.session!.frames) void this.stage.draw(camera.preview);
      requestAnimationFrame(draw);
    };
    draw();
  }

  private async stopCamera(): Promise<void> {
    await this.player?.pause();
    if (!this.camera) return;
    this.camera.stop();
    this.camera = null;
    this.element.classList.remove('live');
    if (this.session) this.timeline.open(this.session);
    this.update();
  }

  private failed(error: unknown): void {
    const smaller = outOfMemory(error) ? this.session?.shrink() : null;
    this.notices.error(
      smaller
        ? new Error(`The device ran short of memory, so the working size is ${smaller}p now. Your work is kept: go on.`)
        : error,
    );
    this.update();
    if (this.session?.frames) void this.stage.draw();
  }

  /** Soon; many changes within a frame of the screen are shown once. */
  private update(): void {
    this.element.dataset.busy = this.session?.busy ?? '';
    if (this.updating) return;
    this.updating = true;
    requestAnimationFrame(() => {
      this.updating = false;
      this.refresh();
    });
  }

  private refresh(): void {
    const { session, player } = this;
    if (!session || !player) return;
    this.toolbar.update(session);
    this.objects.update(session);
    this.transport.update(session, player);
    if (session.frames) this.timeline.update();
    this.pickers[0].element.hidden = this.stage.view === 'overlay';
    this.exportButton.disabled = session.busy !== null || session.state.frames.size === 0;
    this.hint.textContent = advice(session, player, this.camera !== null);
    const { inner } = session.geometry;
    this.quality.show(`${inner.width} x ${inner.height} · ${this.network.engine || 'loading'}`);
  }
}

function boxOf(from: Point, to: Point) {
  return {
    x: Math.min(from.x, to.x),
    y: Math.min(from.y, to.y),
    width: Math.abs(to.x - from.x),
    height: Math.abs(to.y - from.y),
  };
}

/** WebAssembly has many ways to say that there is no more. */
function outOfMemory(error: unknown): boolean {
  return error instanceof Error && /memory|alloc|aborted|unreachable/i.test(`${error.name} ${error.message}`);
}
