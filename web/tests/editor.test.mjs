/** Marking and following, with a made-up network: an object is a bar that moves on by one pixel a frame. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { imported } from './export/bundle.mjs';

const parts = await imported('../parts.ts');
const SIZE = { height: 64, width: 64 };
const AREA = SIZE.height * SIZE.width;
/** What the bars are planes of. */
const FRAME = parts.rasterOfAll(SIZE, SIZE);

const LOOK = { x: 32, y: 32, zoom: 1, speed: [0, 0], growth: [0, 0], extent: null };

/** A bar of 4 pixels' width whose left edge is at `x`. */
const bar = (x) => Uint8Array.from({ length: AREA }, (_, i) => (i % 64 >= x && i % 64 < x + 4 ? 255 : 0));
const leftEdge = (plane) => plane.findIndex((value) => value > 127);

/** Moves what it is shown by one pixel to the right, or to the left when it goes back. */
class MovingNetwork {
  engine = 'made up';
  mostObjects = 4;
  begun = [];
  /** Calls of `propose` wait for this. */
  gate = Promise.resolve();

  async propose(_source, _index, _geometry, marks) {
    await this.gate;
    return { planes: [parts.pack(bar(marks.on[0].x - 1))], raster: FRAME, confidence: [1], alike: [null], look: LOOK };
  }

  async obey(_source, _index, plane, _others) {
    await this.gate;
    return plane;
  }

  async begin(_source, _geometry, anchor, previous) {
    this.begun.push({ anchor: anchor.index, objects: anchor.planes.length });
    const { index, planes, raster, look } = previous ?? anchor;
    this.at = index;
    this.look = look;
    const unpacked = planes.map((packed) => parts.unpack(packed, raster.height * raster.width));
    this.planes = unpacked.map((plane) => parts.resample(plane, raster, FRAME));
  }

  async step({ index }) {
    const by = index - this.at;
    this.at = index;
    this.planes = this.planes.map((plane) => (leftEdge(plane) < 0 ? plane : bar(leftEdge(plane) + by)));
    const planes = this.planes.map(parts.pack);
    const alike = planes.map(() => null);
    return { planes, raster: FRAME, confidence: planes.map(() => 0.8), alike, look: { ...LOOK, x: index } };
  }
}

let session;
let network;

beforeEach(() => {
  globalThis.createImageBitmap = async (picture) => picture;
  const timestamps = Array.from({ length: 10 }, (_, i) => i / 30);
  const source = { ...SIZE, name: 'bars', sound: null, timestamps, durations: timestamps.map(() => 1 / 30) };
  source.frame = async (index) => ({ ...SIZE, index, close() {} });
  network = new MovingNetwork();
  session = new parts.Session(source, network, 'auto', () => {});
});

const tap = (x) => session.tap({ x, y: 30 }, true);
const follow = (direction = 1) => parts.track(session, direction, new AbortController().signal, async () => {});
const edges = (id) =>
  Array.from({ length: session.frames }, (_, i) => {
    const plane = parts.planeOf(session.state.frames.get(i), id, FRAME);
    return plane && leftEdge(plane);
  });

test('a mark belongs to the frame in which it was made, wherever the person goes meanwhile', async () => {
  let open;
  network.gate = new Promise((resolve) => (open = resolve));
  const marked = tap(11);
  session.index = 6;
  open();
  await marked;
  assert.deepEqual([...session.state.frames.keys()], [0]);
  await new Promise((resolve) => setTimeout(resolve));
  session.index = 0;
  await follow();
  session.index = 3;
  network.gate = new Promise((resolve) => (open = resolve));
  const mended = tap(40); // the object has a mask here: this adds to it
  session.index = 4;
  open();
  await mended;
  assert.deepEqual(
    [2, 3, 4].map((i) => session.state.frames.get(i).drawn.size),
    [0, 1, 0],
  );
});

test('an object that is drawn later joins in; the first one goes on', async () => {
  await tap(11);
  session.index = 4;
  session.addObject();
  await tap(41);
  session.index = 0;
  await follow();
  assert.deepEqual(edges(1), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  assert.deepEqual(edges(2), [null, null, null, null, 40, 41, 42, 43, 44, 45]);
  assert.deepEqual([...session.state.frames.get(4).drawn], [2]);
});

test('following back one object leaves the masks of another alone', async () => {
  await tap(11);
  await follow();
  session.index = 0;
  const before = edges(1);
  // The second object exists in frame 7 only, with the first one unknown there.
  const frames = new Map(session.state.frames);
  for (const index of [5, 6, 7, 8, 9]) frames.delete(index);
  session.history.commit({ ...session.state, frames });
  session.addObject();
  session.index = 7;
  await tap(41);
  await follow(-1);
  assert.deepEqual(edges(1).slice(0, 5), before.slice(0, 5));
  assert.deepEqual(edges(1).slice(5), [null, null, null, null, null]);
  assert.deepEqual(edges(2), [33, 34, 35, 36, 37, 38, 39, 40, null, null]);
});

test('an object without a mask yet is no reason for doubt', async () => {
  await tap(11);
  session.addObject();
  await follow();
  for (const index of [1, 9]) assert.equal(parts.trust(session.state.frames.get(index)), 0.8);
  assert.deepEqual(network.begun, [{ anchor: 0, objects: 1 }]);
});

test('what was drawn of one object stays, what was followed of another is followed anew', async () => {
  await tap(11);
  session.addObject();
  await tap(41);
  await follow();
  session.index = 5;
  session.active = 2;
  await session.stroke([{ x: 61, y: 1 }], 1, false); // a correction of the second object
  const drawn = parts.planeOf(session.masks, 2, FRAME);
  session.index = 2;
  session.active = 1;
  session.clear();
  await tap(21); // the first one is elsewhere now
  await follow();
  assert.deepEqual(edges(1), [10, 11, 20, 21, 22, 23, 24, 25, 26, 27]);
  assert.deepEqual(parts.planeOf(session.state.frames.get(5), 2, FRAME), drawn);
});

test('following goes on where it looked last, also after undo; not after a correction, nor the other way', async () => {
  await tap(11);
  await follow();
  session.index = 4;
  const begun = async (direction) => {
    const stop = new AbortController();
    stop.abort();
    await parts.track(session, direction, stop.signal, async () => {});
    session.history.undo();
    session.index = 4;
    return network.look && network.look.x;
  };
  assert.equal(await begun(1), 4);
  assert.equal(await begun(-1), null);
  await session.stroke([{ x: 61, y: 1 }], 1, false);
  assert.equal(await begun(1), null);
  session.history.undo();
  assert.equal(await begun(1), 4);
});

test('work is unsaved until all of it was exported, and after every change', async () => {
  assert.ok(!session.unsaved);
  await tap(11);
  assert.ok(session.unsaved);
  session.saved(session.state);
  assert.ok(!session.unsaved);
  session.rename(1, 'bar');
  assert.ok(session.unsaved);
  session.history.undo();
  assert.ok(!session.unsaved);
});

const quiet = { play: assert.fail };

test('a frame that cannot be shown is told, and the player can still be paused', async () => {
  const told = [];
  const show = () => Promise.reject(new Error('no such frame'));
  const player = new parts.Player(
    session,
    quiet,
    show,
    () => {},
    (error) => told.push(error.message),
  );
  player.play();
  await player.pause();
  assert.deepEqual(new Set(told), new Set(['no such frame']));
  assert.equal(player.mode, null);
});

test('what is heard is what is shown: from this frame to the out point', async () => {
  const heard = [];
  const speaker = {
    play: async (sound, from, to, signal) => {
      heard.push([sound, from, to]);
      signal.addEventListener('abort', () => heard.push('end'));
      return 0;
    },
  };
  const sound = {};
  const { timestamps, durations } = session.source;
  const loud = Object.create(session, { source: { value: { ...session.source, sound } } });
  loud.index = 3;
  loud.setRange({ last: 6 });
  const show = async () => {};
  const player = new parts.Player(loud, speaker, show, show, assert.fail);
  player.play();
  await player.pause();
  assert.deepEqual(heard, [[sound, timestamps[3], timestamps[6] + durations[6]], 'end']);
  session.setRange(null);
});

test('playing waits for the network: nothing moves while a mark is read', () => {
  const player = new parts.Player(
    session,
    quiet,
    async () => {},
    () => {},
    assert.fail,
  );
  session.index = 9;
  session.busy = 'refining';
  player.play();
  assert.deepEqual([session.index, player.mode], [9, null]);
});

test('where the graphics processor fails, the call is made once more without it', async (t) => {
  const loads = [];
  t.after(() => ['Worker', 'document'].forEach((name) => delete globalThis[name]));
  globalThis.document = { baseURI: 'http://localhost/' };
  globalThis.Worker = class {
    postMessage({ call, number, accelerator }) {
      if (call === 'load') loads.push((this.accelerator = accelerator));
      const failed = call === 'warm' && this.accelerator === 'auto';
      const engine = this.accelerator === 'auto' ? 'WebGPU' : 'WebAssembly, one thread';
      const data = failed ? { number, error: 'shader' } : { number, result: { engine, mostObjects: 4, files: [] } };
      queueMicrotask(() => this.onmessage({ data }));
    }

    terminate() {}
  };
  const real = new parts.Network('auto');
  await real.warm(session.geometry);
  assert.deepEqual(loads, ['auto', 'wasm']);
  assert.equal(real.engine, 'WebAssembly, one thread');
});

test('after undo, marks go to an object that is there', async () => {
  await tap(11);
  session.addObject();
  assert.equal(session.active, 2);
  session.undo();
  assert.equal(session.active, 1);
  session.redo();
  assert.equal(session.active, 1);
  session.undo();
  session.undo();
  await tap(11);
  assert.deepEqual(
    session.state.objects.map(({ id }) => id),
    [1],
  );
});

test('following begins where something is known, towards the frame in which it was asked for', () => {
  const state = { objects: [], frames: new Map([2, 7].map((at) => [at, { ids: [1] }])) };
  const from = (index, direction) => parts.startOf(state, index, direction);
  assert.deepEqual(from(2, -1), { index: 2, direction: -1 });
  assert.deepEqual(from(5, 1), { index: 2, direction: 1 });
  assert.deepEqual(from(5, -1), { index: 7, direction: -1 });
  assert.deepEqual(from(9, -1), { index: 7, direction: 1 });
  assert.deepEqual(from(0, 1), { index: 2, direction: -1 });
  assert.equal(parts.startOf({ objects: [], frames: new Map() }, 3, 1), null);
});

test('an object that is lost stops the run once, and the next run goes on', async () => {
  await tap(11);
  const timestamps = Array.from({ length: 40 }, (_, i) => i / 30);
  Object.assign(session.source, { timestamps, durations: timestamps.map(() => 1 / 30) });
  const step = network.step.bind(network);
  network.step = async (bitmap) => ({ ...(await step(bitmap)), confidence: [bitmap.index < 5 ? 0.8 : 0.01] });
  await assert.rejects(follow(), /Lost since frame 6\./);
  assert.equal(session.index, 5 + parts.LOST_FRAMES - 1);
  await follow();
  assert.equal(session.index, 39);
});

test('of several objects the one that is lost is named', async () => {
  await tap(11);
  session.addObject();
  await tap(41);
  session.rename(2, 'fox');
  session.active = 1;
  const timestamps = Array.from({ length: 40 }, (_, i) => i / 30);
  Object.assign(session.source, { timestamps, durations: timestamps.map(() => 1 / 30) });
  const step = network.step.bind(network);
  network.step = async (bitmap) => ({ ...(await step(bitmap)), confidence: [0.8, bitmap.index < 5 ? 0.8 : 0.01] });
  await assert.rejects(follow(), /^Error: fox is lost since frame 6\. Mark it/);
  assert.equal(session.active, 2); // to be marked again
});

test('what was followed is exported, or all of the video', async () => {
  await tap(11);
  session.index = 3;
  await tap(14);
  const { first, last, missing } = parts.followed(session);
  assert.deepEqual([first, last, missing], [0, 3, 2]);
  const masksOf = async (index) => (await parts.partOf(session, session.state, index, false)).masks;
  const part = parts.trackedVideo(session.source, masksOf, { first: 3, last: 5 }, parts.USUAL_EDGES, []);
  assert.deepEqual(part.timestamps, [3 / 30, 4 / 30, 5 / 30]);
  assert.equal(leftEdge(await part.alpha(0)), 13);
  assert.ok(!(await part.alpha(1)).some(Boolean));
  assert.equal((await part.frame(2)).index, 5);
});

test('following and exports keep to the in and the out point', async () => {
  session.setRange({ first: 2, last: 6 });
  session.index = 3;
  await tap(14);
  await follow(1);
  assert.equal(session.index, 6);
  session.index = 3;
  await follow(-1);
  assert.equal(session.index, 2);
  assert.equal(parts.leftToFollow(session), 0);
  assert.deepEqual([...session.state.frames.keys()].sort(), [2, 3, 4, 5, 6]);
  const { first, last, missing } = parts.followed(session);
  assert.deepEqual([first, last, missing], [2, 6, 0]);
  session.index = 8; // from outside it goes on to the video's end
  await tap(20);
  await follow(1);
  assert.equal(session.index, 9);
});

test('a point that comes behind the other one takes it along', () => {
  session.setRange({ first: 4 });
  session.setRange({ last: 2 });
  assert.deepEqual(session.range, { first: 2, last: 2 });
  session.setRange({ first: 7 });
  assert.deepEqual(session.range, { first: 7, last: 7 });
  session.setRange({ first: -5, last: 99 });
  assert.ok(!session.isPart);
});

/** Follow, with confidences (0.9 unless said) and, by number, what objects are taken for, of frames. */
async function followWith(confidence, alike = new Map()) {
  const step = network.step.bind(network);
  network.step = async (bitmap) => {
    const found = await step(bitmap);
    const of = (told, usual) => found.planes.map((_, n) => told.get(bitmap.index)?.[n] ?? usual);
    return { ...found, confidence: of(confidence, 0.9), alike: of(alike, null) };
  };
  await follow();
}

test('places to check are where the drift alarm is raised; what a person drew is beyond it', async () => {
  await tap(11);
  await followWith(new Map([1, 3, 4, 7].map((at) => [at, [0.4]])));
  const places = () => parts.placesToCheck(session).map(({ first, last, correct }) => [first, last, correct]);
  assert.deepEqual(places(), [[1, 7, 1]]); // a few frames apart they are one
  session.index = 3;
  await session.stroke([{ x: 18, y: 30 }], 4, false);
  assert.deepEqual(places(), [[1, 7, 1]]);
  session.index = 4;
  await session.stroke([{ x: 18, y: 30 }], 4, false);
  assert.deepEqual(places(), []); // what is left are flickers
  const [lane] = parts.doubtsAt(session.state.frames.get(7), 7, []);
  assert.deepEqual(lane, { id: 1, lost: false, alike: 0 });
});

test('followed back, the frame to correct is where the doubt began', async () => {
  session.index = 9;
  await tap(51);
  const step = network.step.bind(network);
  network.step = async (bitmap) => ({ ...(await step(bitmap)), confidence: [bitmap.index > 6 ? 0.9 : 0.3] });
  await follow(-1);
  assert.deepEqual(
    parts.placesToCheck(session).map(({ first, last, correct }) => [first, last, correct]),
    [[0, 6, 6]],
  );
  const next = (index) => parts.placeAfter(parts.placesToCheck(session), index)?.correct;
  assert.deepEqual([next(2), next(6), next(8)], [6, 6, 6]);
  assert.equal(parts.placeAfter([], 2), undefined);
});

test('doubts are named: lost, taken for another, or neither is known', async () => {
  await tap(11);
  await followWith(new Map([2, 3, 4].map((at) => [at, [0]])));
  const named = () => parts.placesToCheck(session).map((place) => parts.placeText(place, session.state.objects));
  assert.deepEqual(named(), ['Lost in frames 3 to 5']);
  const here = (index) =>
    parts
      .doubtsAt(session.state.frames.get(index), index, parts.placesToCheck(session))
      .map((doubt) => parts.doubtText(doubt, session.state.objects));
  assert.deepEqual([here(3), here(6)], [['Lost here'], []]);
  session.index = 0;
  session.addObject();
  await tap(41);
  session.rename(2, 'fox');
  const low = [2, 3, 4, 7, 8, 9].map((at) => [at, at < 6 ? [0.3, 0.9] : [0.9, 0.2]]);
  await followWith(new Map(low), new Map([3, 4, 8, 9].map((at) => [at, [1, at < 9 ? null : 0]])));
  assert.deepEqual(named(), ['Object 1 may be following fox in frames 3 to 5', 'fox is doubtful in frames 8 to 10']);
  assert.deepEqual(here(2), ['Object 1 may be following fox here']);
  assert.deepEqual(here(9), ['Check fox in this frame']);
  session.remove(2);
  assert.deepEqual(named(), ['Doubtful in frames 3 to 5']); // there is nothing more to take it for
  assert.deepEqual(here(3), ['Check this frame']);
});

test('a session that was kept before look-alikes were told is opened and gone on with', async () => {
  await tap(11);
  session.addObject();
  await tap(41);
  await followWith(new Map([3, 4, 5].map((at) => [at, [0.9, 0.2]])));
  const old = new Map([...session.state.frames].map(([index, { alike: _, ...masks }]) => [index, masks]));
  const again = new parts.Session(session.source, network, 'auto', () => {});
  await parts.restore(again, { settings: parts.settingsOf(session), masks: old, image: null });
  session = again;
  const named = () => parts.placesToCheck(session).map((place) => parts.placeText(place, session.state.objects));
  assert.deepEqual(named(), ['Object 2 is doubtful in frames 4 to 6']);
  session.index = 4;
  session.active = 1;
  await session.stroke([{ x: 18, y: 30 }], 4, false);
  await follow();
  session.remove(1);
  assert.deepEqual(session.state.frames.get(4).alike, [0]);
});

test('a project holds all of a session, and the video as it was', async () => {
  const video = new Blob(['the video itself'], { type: 'video/mp4' });
  Object.assign(session.source, { file: video });
  await tap(11);
  session.rename(1, 'bar');
  await follow();
  session.setRange({ first: 1, last: 8 });
  session.setEdges({ ...parts.USUAL_EDGES, grow: -2 });
  const file = new Blob(await parts.projectParts(session));
  assert.ok(await parts.isProject(file));
  assert.ok(!(await parts.isProject(video)));
  const found = await parts.readProject(file, 'a.mobilevos');
  assert.equal(await found.video.text(), 'the video itself');
  assert.equal(found.video.type, 'video/mp4');
  const again = new parts.Session(session.source, network, 'auto', () => {});
  await parts.restore(again, found.kept);
  assert.deepEqual(again.state, session.state);
  assert.deepEqual([again.range, again.edges, again.index], [session.range, session.edges, session.index]);
  await assert.rejects(parts.readProject(file.slice(0, file.size - 3), 'a.mobilevos'), /its end is missing/);
});

test('only frames that have changed are kept again', async () => {
  await tap(11);
  await follow();
  const before = session.state;
  session.index = 4;
  await session.stroke([{ x: 20, y: 30 }], 4, false);
  const { put, gone } = parts.changes(before, session.state);
  assert.deepEqual([put.map(([index]) => index), gone], [[4], []]);
  session.undo();
  session.undo();
  assert.deepEqual(parts.changes(before, session.state).gone, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('closer, what is under the pointer stays there, and nothing outside of the video is shown', () => {
  const lens = new parts.Lens();
  lens.reset({ width: 400, height: 200 });
  const before = lens.toVideo(0.3, 0.8);
  lens.zoomAt(0.3, 0.8, 3);
  const after = lens.toVideo(0.3, 0.8);
  assert.ok(Math.hypot(after.x - before.x, after.y - before.y) < 1e-9);
  lens.pan(9, -9);
  assert.deepEqual([lens.part.left, lens.part.top + lens.part.height], [0, 200]);
  lens.zoomAt(0, 0, 0.01);
  assert.deepEqual(lens.part, { left: 0, top: 0, width: 400, height: 200 });
});
