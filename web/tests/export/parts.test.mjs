import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { imported } from './bundle.mjs';

const parts = await imported('parts.ts');
const sink = () => new parts.Sink(parts.toMemory());
const never = new AbortController().signal;
const writing = (video, progress = () => {}, signal = never) => ({ video, sink: sink(), progress, signal });

test("the checksum of '123456789' is the one every description of CRC-32 gives", () => {
  assert.equal(parts.crc32(parts.ascii('123456789')), 0xcbf43926);
  assert.equal(parts.crc32(new Uint8Array()), 0);
});

test("the palette begins as that of DAVIS and ends in white's neighbour", () => {
  const palette = parts.davisPalette();
  assert.deepEqual([...palette.slice(0, 12)], [0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0]);
  assert.deepEqual([...palette.slice(3 * 255)], [224, 224, 192]);
});

test('a PNG holds header, palette and rows of indices without a filter', async () => {
  const png = await parts.indexedPng(Uint8Array.of(0, 1, 2, 255, 4, 5), 3, 2, parts.davisPalette());
  const view = new DataView(png.buffer);
  const chunks = new Map();
  for (let at = 8; at < png.length;) {
    const size = view.getUint32(at);
    const type = String.fromCharCode(...png.slice(at + 4, at + 8));
    assert.equal(view.getUint32(at + 8 + size), parts.crc32(png.slice(at + 4, at + 8 + size)), type);
    chunks.set(type, png.slice(at + 8, at + 8 + size));
    at += 12 + size;
  }
  assert.deepEqual([...chunks.keys()], ['IHDR', 'PLTE', 'IDAT', 'IEND']);
  assert.deepEqual([...chunks.get('IHDR')], [0, 0, 0, 3, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
  assert.deepEqual([...inflateSync(chunks.get('IDAT'))], [0, 0, 1, 2, 0, 255, 4, 5]);
});

test('regions of a picture small enough to count by hand', () => {
  // 0 1 1
  // 2 1 0
  const found = parts.regions(Uint8Array.of(0, 1, 1, 2, 1, 0), 3, 2);
  assert.deepEqual(found, [
    { id: 1, counts: [2, 3, 1], area: 3, bbox: [1, 0, 2, 2] },
    { id: 2, counts: [1, 1, 4], area: 1, bbox: [0, 1, 1, 1] },
  ]);
  assert.deepEqual(parts.regions(Uint8Array.of(7, 7), 2, 1), [{ id: 7, counts: [0, 2], area: 2, bbox: [0, 0, 2, 1] }]);
  assert.deepEqual(parts.regions(new Uint8Array(6), 3, 2), []);
});

test('run lengths as text: small, large and falling numbers', () => {
  assert.equal(parts.compressed([2, 3, 1]), '231');
  assert.equal(parts.compressed([16, 1000]), '`0Xo0'); // 16 = 0b0_10000; 1000 = 0b0_11111_01000: a sign bit each
  assert.equal(parts.compressed([5, 5, 5, 2]), '555M'); // 2 - 5 = -3
});

test('times are whole milliseconds, touch, never meet, and begin at 0 or later', () => {
  const third = [0, 1 / 30, 2 / 30, 3 / 30];
  const ticks = (timing) =>
    timing.map(({ timestamp, duration }) => [timestamp, duration].map((s) => Math.round(1e6 * s)));
  assert.deepEqual(
    ticks(
      parts.millisecondTiming(
        third,
        third.map(() => 1 / 30),
      ),
    ),
    [
      [0, 33000],
      [33000, 34000],
      [67000, 33000],
      [100000, 33000],
    ],
  );
  assert.deepEqual(ticks(parts.millisecondTiming([1, 1.0001, 1.0002], [0.0001, 0.0001, 0.01])), [
    [1000000, 0],
    [1001000, 0],
    [1002000, 8000],
  ]);
  assert.deepEqual(ticks(parts.millisecondTiming([-0.02, 0.02], [0.04, 0.04])), [
    [0, 40000],
    [40000, 40000],
  ]);
});

test('widening reaches as far across as down, and stops at borders', () => {
  const alpha = new Uint8Array(7 * 5);
  alpha[2 * 7 + 1] = 9;
  const wide = parts.widened(alpha, 7, 5, 2);
  const expected = Array.from({ length: 35 }, (_, p) => (p % 7 <= 3 ? 1 : 0));
  assert.deepEqual([...wide], expected);
});

test('three boxes have the variance of the Gaussian, nearly', () => {
  for (const deviation of [2, 3, 5, 8]) {
    const variance = parts.boxReaches(deviation).reduce((sum, r) => sum + ((2 * r + 1) ** 2 - 1) / 12, 0);
    assert.ok(Math.abs(Math.sqrt(variance) - deviation) < 0.2, `${deviation}: ${Math.sqrt(variance)}`);
  }
  assert.deepEqual(parts.boxReaches(0), [0, 0, 0]);
});

test('progress is told for every frame; aborting ends the work with its reason', async () => {
  const video = parts.madeVideo(16, 12, [0, 0.1, 0.2]);
  const told = [];
  await parts.writeMasks(writing(video, (done, total) => told.push([done, total])));
  assert.deepEqual(told, [
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
  const stop = new AbortController();
  const abortAfterFirst = () => stop.abort();
  await assert.rejects(parts.writeCoco(writing(video, abortAfterFirst, stop.signal)), { name: 'AbortError' });
});

test('other tasks get their turn between two frames', async () => {
  const video = parts.madeVideo(16, 12, [0, 0.1, 0.2, 0.3]);
  const order = [];
  const tick = () => order.push('page') < 40 && setImmediate(tick);
  setImmediate(tick);
  await parts.writeCoco(writing(video, (done) => order.push(done)));
  const between = order.slice(order.indexOf(1) + 1, order.indexOf(4));
  assert.ok(between.includes('page'), order.join(' '));
});

test('nothing to export, and planes of a wrong size, are said plainly', async () => {
  await assert.rejects(parts.writeMasks(writing(parts.madeVideo(4, 4, []))), /nothing to export/);
  const video = { ...parts.madeVideo(4, 4, [0]), labels: async () => new Uint8Array(15) };
  await assert.rejects(parts.writeCoco(writing(video)), /labels of 4 x 4 = 16 pixels, got 15/);
});

test('what is written at any place of a file is there when it is closed', async () => {
  const file = sink();
  await file.append('hello');
  await file.append(' world');
  const writer = file.stream().getWriter();
  await writer.write({ type: 'write', data: parts.ascii('J'), position: 0 });
  assert.equal(file.size, 11);
  assert.equal(await (await file.close()).text(), 'Jello world');
});

/** Ids from a drawing, and back. */
const drawn = (rows) => Uint8Array.from(rows.join(''), (mark) => (mark === '.' ? 0 : Number(mark)));
const shown = (ids, width) =>
  Array.from(ids, (id) => (id ? id : '.'))
    .join('')
    .match(new RegExp(`.{${width}}`, 'g'));

test('runs that touch at a corner are one part, or two', () => {
  const ids = drawn(['1..', '.1.', '..1']);
  const box = { top: 0, left: 0, bottom: 3, right: 3 };
  assert.deepEqual(parts.joinedRuns(box, 1, (i) => ids[i] === 1, 3).sizes, [3]);
  assert.deepEqual(parts.joinedRuns(box, 0, (i) => ids[i] === 1, 3).sizes, [1, 1, 1]);
  const horseshoe = drawn(['1.1', '1.1', '111']);
  assert.deepEqual(parts.joinedRuns(box, 0, (i) => horseshoe[i] === 1, 3).sizes, [7]);
});

test('specks go, the largest part never; holes are filled, but not where another object is', () => {
  const size = { height: 5, width: 8 };
  const ids = drawn(['1111...1', '1..1....', '1111.333', '.....323', '1....333']);
  const clean = ids.slice();
  parts.dropSpecks(clean, size, 3);
  assert.deepEqual(shown(clean, 8), ['1111....', '1..1....', '1111.333', '.....323', '.....333']);
  parts.fillHoles(clean, size, 3);
  assert.deepEqual(shown(clean, 8), ['1111....', '1111....', '1111.333', '.....323', '.....333']);
  const alone = drawn(['........', '........', '....1...', '........', '........']);
  parts.dropSpecks(alone, size, 100);
  assert.equal(alone[20], 1);
});

test('objects grow round, up to each other, and shrink from what is not them, but not from the border', () => {
  const size = { height: 5, width: 7 };
  const ids = drawn(['.......', '.......', '1....2.', '.......', '.......']);
  assert.deepEqual(shown(parts.regrown(ids, size, 2), 7), ['1....2.', '11..222', '1112222', '11..222', '1....2.']);
  const block = drawn(['111....', '111....', '111....', '111....', '111....']);
  assert.deepEqual(shown(parts.regrown(block, size, -1), 7), Array(5).fill('11.....'));
});

test('a matte is hard without a feather, and soft over as much as is asked for', () => {
  const size = { height: 1, width: 9 };
  const ids = drawn(['1111.....']);
  assert.deepEqual([...parts.matte(ids, size, 0)], [255, 255, 255, 255, 0, 0, 0, 0, 0]);
  const soft = parts.matte(ids, size, 1);
  assert.ok(soft[3] > 127 && soft[3] < 255 && soft[4] > 0 && soft[4] < 128, soft.join());
  assert.equal(soft[3] + soft[4], 255);
  assert.deepEqual([soft[0], soft[8]], [255, 0]);
});
