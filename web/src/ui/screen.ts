/** The screen on which a video is worked on. */
import { Autosave } from '../editor/autosave';
import { doubtsAt, doubtText, placeAfter, placesToCheck, type Place } from '../editor/doubt';
import { restore, type Kept } from '../editor/kept';
import { Player } from '../editor/player';
import type { Network } from '../editor/network';
import type { Quality } from '../editor/pace';
import { ENDING, projectParts } from '../editor/project';
import { Session } from '../editor/session';
import { startOf } from '../editor/track';
import { leftToFollow } from '../editor/tracked';
import { keepFile, Previewer } from '../export/client';
import type { Look } from '../export/types';
import type { Point } from '../tracking/marks';
import type { VideoSource } from '../video/source';
import { Speaker } from '../video/speaker';
import { advice } from './advice';
import { choice, h } from './dom';
import { EdgePanel } from './edges';
import { ICONS } from './icons';
import { LookPicker } from './look';
import type { Tool } from './marker';
import type { Notices } from './notice';
import { ObjectList } from './objects';
import { tinted } from './paint';
import { previewOf } from './preview';
import { QualityPicker } from './quality';
import { choosePlace, download } from './save';
import { Sheet } from './sheet';
import type { Shortcut } from './shortcuts';
import { Stage, type View } from './stage';
import { ExportDialog } from './export';
import { Timeline } from './timeline';
import { Toolbar } from './toolbar';
import { Transport } from './transport';

const VIEWS: { value: View; text: string; hint: string }[] = [
  { value: 'overlay', text: 'Overlay', hint: 'The objects in colour over the video' },
  { value: 'cutout', text: 'Result', hint: 'As it will be exported' },
  { value: 'compare', text: 'Before / after', hint: 'Both, with a slider between them' },
];

/** Where the panel is a sheet that comes when asked; the same as in app.css. */
const SMALL = '(max-width: 820px), (max-height: 500px) and (orientation: landscape)';

/** Width of the picture in the export dialog. */
const THUMBNAIL = 480;

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
  private readonly pickers: LookPicker[];
  private readonly edges: EdgePanel;
  private readonly sheet: Sheet;
  private readonly bottom: HTMLElement;
  private readonly speaker = new Speaker();
  private readonly thumbnails = new Previewer();
  private session: Session | undefined;
  private player: Player | undefined;
  private autosave: Autosave | undefined;
  private updating = false;
  private rests = 0;

  constructor(
    private readonly network: Network,
    private readonly notices: Notices,
    initial: Quality,
  ) {
    const failed = (error: unknown) => notices.error(error);
    const marking = {
      tap: (point, on) => this.mark((session) => session.tap(point, on)),
      box: (from, to) => this.mark((session) => session.box(boxOf(from, to))),
      stroke: (points, erase) => this.mark((session) => session.stroke(points, this.stage.marker.brush, erase)),
      rest: (point) => void this.rest(point),
      sign: (adding) => this.sign(adding),
      follow: () => this.follow(1),
      left: () => this.transport.focus(),
    } satisfies ConstructorParameters<typeof Stage>[0];
    this.stage = new Stage(marking, () => this.update());
    this.objects = new ObjectList({
      choose: (id) => this.choose(id),
      rename: (id, name) => this.edit((session) => session.rename(id, name)),
      remove: (id) => this.edit((session) => session.remove(id)),
      add: () => {
        this.edit((session) => session.addObject());
        this.sheet.close(); // to mark it
      },
      hide: () => this.edit((session) => session.clear()),
    });
    this.timeline = new Timeline({
      seek: (index) => void this.player?.seek(index).catch(failed),
      cut: (range) => this.session?.setRange(range),
    });
    this.transport = new Transport({
      step: (by) => this.step(by),
      toggle: () => this.toggle(),
      follow: (direction) => this.follow(direction),
      check: () => this.check(),
      cut: (end) => this.cut(end),
      mute: () => this.mute(),
    });
    this.views = choice('View', VIEWS, (view) => this.look(view));
    const inDialog = (error: unknown) => this.exportDialog.failed(error);
    this.pickers = [failed, inDialog].map((say) => new LookPicker((look) => this.over(look), say));
    this.edges = new EdgePanel((edges) => this.edit((session) => session.setEdges(edges)));
    this.exportDialog = new ExportDialog(this.pickers[1].element, {
      session: () => this.session ?? null,
      follow: () => this.followRest(),
      thumbnail: (look) => this.thumbnail(look),
    });
    this.dialog = this.exportDialog.element;
    this.quality = new QualityPicker(initial, (quality) => this.session?.setQuality(quality));
    this.exportButton = h('button', {
      type: 'button',
      class: 'secondary',
      hidden: true,
      on: { click: () => this.exportDialog.open() },
    });
    this.exportButton.innerHTML = `${ICONS.export}<span>Export</span>`;
    const part = h('section', { class: 'card' }, h('h2', {}, 'Part of the video'));
    this.sheet = new Sheet(
      this.objects.element,
      h('section', { class: 'card' }, h('h2', {}, 'View'), this.views.element, this.pickers[0].element),
      part,
      this.edges.element,
      this.quality.element,
    );
    const actions = {
      use: (tool: Tool) => this.use(tool),
      sign: () => this.sign(),
      undo: () => this.edit((session) => session.undo()),
      redo: () => this.edit((session) => session.redo()),
    };
    this.toolbar = new Toolbar(this.stage.marker, actions, this.sheet.button);
    this.bottom = h('div', { class: 'bottom' }, this.timeline.element, this.transport.element);
    this.element = h(
      'main',
      { class: 'editor', hidden: true },
      this.toolbar.element,
      h('div', { class: 'centre' }, this.stage.element, this.hint),
      this.sheet.element,
      this.bottom,
      this.sheet.around,
    );
    const small = matchMedia(SMALL);
    const arrange = () => {
      if (small.matches) part.append(this.transport.cutting);
      else this.transport.takeCutting();
      part.hidden = !small.matches;
      this.sheet.close();
    };
    small.addEventListener('change', arrange);
    arrange();
    this.views.set('overlay');
  }

  /** Whether there is work that would be lost. */
  get unsaved(): boolean {
    return Boolean(this.session?.unsaved);
  }

  /** Work on a video; `kept`: from where it was left, and what that is kept under. */
  async open(source: VideoSource, kept?: Kept, id?: string): Promise<void> {
    await this.close();
    const session = new Session(source, this.network, this.quality.value, () => this.update());
    const state = kept && (await restore(session, kept));
    if (state && id) session.saved(state);
    this.session = session;
    this.autosave = new Autosave(
      session,
      (error) => this.notices.say(`Your work is not kept on this device: ${said(error)} Save a project instead.`),
      id,
      id ? state : undefined,
    );
    this.player = new Player(
      session,
      this.speaker,
      () => this.stage.draw(),
      () => this.update(),
      (error) => this.failed(error),
    );
    this.element.hidden = this.exportButton.hidden = false;
    this.stage.open(session);
    this.showLook(session);
    this.update();
    // Whoever began to load it says what failed.
    void this.network.warm(session.marking).then(
      () => this.update(),
      () => undefined,
    );
    this.timeline.open(session);
    await this.stage.draw();
  }

  async close(): Promise<void> {
    await this.player?.pause();
    await this.autosave?.close();
    this.autosave = undefined;
    this.session?.source.close();
    this.session = undefined;
    this.element.hidden = this.exportButton.hidden = true;
  }

  /** Keep what there is, for instance because the page may be closed now. */
  async keep(): Promise<void> {
    await this.autosave?.now();
  }

  /** All of it as one file. */
  async saveProject(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const { state } = session;
    const name = `${session.source.name.replace(/\.[^.]+$/, '')}.${ENDING}`;
    const type = 'application/octet-stream';
    try {
      const place = await choosePlace(name, type);
      if (!place) return;
      const { file } = await keepFile(await projectParts(session), place, new AbortController().signal);
      if (file) download(file, name, type);
      session.saved(state);
      this.notices.say(`Saved ${name}. Choose or drop it on this page to go on.`);
    } catch (error) {
      this.notices.error(error);
    }
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
      {
        key: ' ',
        text: 'Play or pause; hold it to move the picture',
        down: () => this.stage.marker.hold(),
        act: () => this.stage.marker.letGo() || this.toggle(),
      },
      { key: '+', text: 'Closer', act: () => this.stage.zoom(1.5) },
      { key: '=', text: '', act: () => this.stage.zoom(1.5) },
      { key: '-', text: 'Farther', act: () => this.stage.zoom(1 / 1.5) },
      { key: '0', text: 'All of the picture', act: () => this.stage.showAll() },
      { key: 'i', text: 'Begin here', act: () => this.cut('first') },
      { key: 'o', text: 'End here', act: () => this.cut('last') },
      { key: 'f', text: 'Follow', act: () => this.follow(1) },
      { key: 'shift+f', text: 'Follow back', act: () => this.follow(-1) },
      { key: 'arrowleft', text: 'Previous frame', act: () => this.step(-1) },
      { key: 'arrowright', text: 'Next frame', act: () => this.step(1) },
      { key: 'shift+arrowleft', text: 'Ten frames back', act: () => this.step(-10) },
      { key: 'shift+arrowright', text: 'Ten frames on', act: () => this.step(10) },
      { key: 'm', text: 'Sound on or off', act: () => this.mute() },
      { key: 'n', text: 'The next place to check', act: () => this.check() },
      { key: 'v', text: 'Next view', act: () => this.nextView() },
      { key: 'a', text: 'New object', act: () => this.edit((session) => session.addObject()) },
      { key: 's', text: 'Export', act: () => !this.exportButton.disabled && this.exportDialog.open() },
    ];
  }

  private mark(work: (session: Session) => Promise<void>): void {
    const { session, player } = this;
    if (!session || !player || session.busy || player.mode) return;
    this.notices.clear();
    void work(session)
      .then(() => this.stage.draw())
      .catch((error: unknown) => this.failed(error));
  }

  /** Where the pointer rests over what is not marked yet, what a tap would find is shown. */
  private async rest(point: Point | null): Promise<void> {
    const { session, player, stage } = this;
    const turn = ++this.rests;
    if (!point || !session || !player || !this.network.engine || stage.view !== 'overlay' || player.mode) {
      return stage.foresee(null);
    }
    // A preview is a comfort: where it fails, the tap itself says why.
    const found = await session.foresee(point).catch(() => null);
    if (turn === this.rests) await stage.foresee(found);
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
    void this.stage.draw();
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

  private sign(adding = !this.stage.marker.adding): void {
    this.stage.marker.adding = adding;
    this.update();
  }

  private mute(): void {
    this.speaker.muted = !this.speaker.muted;
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

  private over(look: Look): void {
    const { session } = this;
    if (!session) return;
    session.setLook(look);
    this.showLook(session);
    this.exportDialog.update();
    if (this.stage.view === 'overlay') this.look('cutout');
    else void this.stage.draw();
  }

  private showLook({ look, source }: Session): void {
    for (const picker of this.pickers) picker.show(look, Math.min(source.width, source.height));
  }

  /** The current frame in an export, or the nearest one that has masks; without a look, the masks alone. */
  private async thumbnail(look: Look | null): Promise<ImageBitmap | null> {
    const { session } = this;
    if (!session) return null;
    const { frames } = session.state;
    const far = (index: number) => Math.abs(index - session.index);
    const index = frames.has(session.index) ? session.index : [...frames.keys()].sort((a, b) => far(a) - far(b))[0];
    const masks = frames.get(index);
    if (!masks) return null;
    if (look) {
      return previewOf(this.thumbnails, session, masks, await session.source.frame(index), look, THUMBNAIL);
    }
    const { source } = session;
    const canvas = new OffscreenCanvas(THUMBNAIL, Math.round((THUMBNAIL * source.height) / source.width));
    const context = canvas.getContext('2d')!;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const painted = await createImageBitmap(tinted(masks, session.state.objects, source, session.edges));
    const scale = THUMBNAIL / source.width;
    const { left, top, width, height } = masks.raster.box;
    context.drawImage(painted, left * scale, top * scale, width * scale, height * scale);
    painted.close();
    return canvas.transferToImageBitmap();
  }

  private cut(end: 'first' | 'last' | null): void {
    const { session } = this;
    if (!session || session.busy) return;
    if (end === null) session.setRange(null);
    else session.setRange(end === 'first' ? { first: session.index } : { last: session.index });
  }

  private step(by: number): void {
    void this.player?.seek((this.session?.index ?? 0) + by).catch((error: unknown) => this.failed(error));
  }

  private toggle(): void {
    if (this.player?.mode) void this.player.pause();
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

  /** From where frames are missing: forward from the last that is known, or back from the first. */
  private followRest(): void {
    const { session, player } = this;
    if (!session || !player) return;
    const { first, last } = session.range;
    const known = [...session.state.frames.keys()].filter((at) => at >= first && at <= last).sort((a, b) => a - b);
    const gap = known.find((at) => at < last && !session.state.frames.has(at + 1));
    const from = gap ?? known[0];
    if (from === undefined) return this.follow(1);
    void player
      .seek(from)
      .then(() => player.follow(gap === undefined ? -1 : 1))
      .catch((error: unknown) => this.failed(error));
  }

  /** To the next place that needs a look, and the object that it is about. */
  private check(): void {
    const { session } = this;
    if (!session) return;
    const next = placeAfter(placesToCheck(session), session.index);
    if (!next) return;
    this.choose(next.id);
    void this.player?.seek(next.correct).catch((error: unknown) => this.failed(error));
  }

  private failed(error: unknown): void {
    const smaller = outOfMemory(error) ? this.session?.shrink() : null;
    this.notices.error(
      smaller
        ? new Error(`The device ran short of memory, so the working size is ${smaller}p now. Your work is kept: go on.`)
        : error,
    );
    this.update();
    void this.stage.draw();
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
    const places = placesToCheck(session);
    this.transport.update(session, player, this.speaker.muted, places);
    this.timeline.update(places);
    this.edges.show(session.edges);
    this.autosave?.changed();
    this.pickers[0].element.hidden = this.stage.view === 'overlay';
    const marked = session.state.frames.size > 0;
    this.exportButton.disabled = session.busy !== null || !marked;
    // One main action at a time: Follow until all is followed, then Export.
    const done = marked && session.busy === null && leftToFollow(session) === 0;
    this.exportButton.classList.toggle('primary', done);
    this.exportButton.classList.toggle('secondary', !done);
    this.hint.textContent = advice(session, places);
    this.updateBar(session, player, places);
    const { view } = session.geometry;
    this.quality.show(`${view.width} x ${view.height} · ${this.network.engine || 'loading'}`);
  }

  /** Beside the object, where it can be marked: not while something runs, nor where the brush may begin. */
  private updateBar(session: Session, player: Player, places: readonly Place[]): void {
    const { marker, view, bar, closeness } = this.stage;
    const shown = view === 'overlay' && marker.tool === 'select' && player.mode === null && session.busy !== 'tracking';
    const { active, index, masks, state } = session;
    const doubt = doubtsAt(masks, index, places).find(({ id }) => id === active);
    bar.doubt = doubt ? doubtText(doubt, state.objects) : '';
    bar.update(session, shown, marker.adding, [this.hint, closeness, this.bottom, ...this.transport.over]);
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

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** WebAssembly has many ways to say that there is no more. */
function outOfMemory(error: unknown): boolean {
  return error instanceof Error && /memory|alloc|aborted|unreachable/i.test(`${error.name} ${error.message}`);
}
