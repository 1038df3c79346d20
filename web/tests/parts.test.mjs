/** The parts that need no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imported } from './export/bundle.mjs';

const parts = await imported('../parts.ts');
const bytes = (...values) => Uint8Array.from(values);
/** Cells over a whole frame of as many pixels. */
const all = (height, width) => parts.rasterOfAll({ height, width }, { height, width });

test('planes come back from being packed, whatever they hold', () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 60; round++) {
    const plane = new Uint8Array(Math.floor(random() * 3000));
    for (let i = 0; i < plane.length;) {
      const value = [0, 255, Math.floor(random() * 256)][Math.floor(random() * 3)];
      const end = Math.min(plane.length, i + 1 + Math.floor(random() * 400));
      plane.fill(value, i, end);
      i = end;
    }
    assert.deepEqual(parts.unpack(parts.pack(plane), plane.length), plane);
  }
});

test('runs are stored in groups of seven bits', () => {
  assert.deepEqual([...parts.pack(new Uint8Array(300))], [0, 0b10101100, 0b10]);
  assert.deepEqual([...parts.pack(bytes(255, 255, 7, 0))], [255, 2, 7, 0, 1]);
});

test('the winner is the largest share, the background has what is left', () => {
  assert.deepEqual([...parts.winners([bytes(127, 128, 255)], 3)], [0, 1, 1]);
  // shares 100 | 100 | 55 left; 90 | 100 | 65 left; 60 | 60 | 135 left
  assert.deepEqual([...parts.winners([bytes(100, 90, 60), bytes(100, 100, 60)], 3)], [1, 2, 0]);
});

test('enlarging is linear between the centres of pixels', () => {
  const frame = { height: 1, width: 4 };
  const out = parts.resample(bytes(0, 200), parts.rasterOfAll({ height: 1, width: 2 }, frame), all(1, 4));
  assert.deepEqual([...out], [0, 50, 150, 200]);
});

test('what a window shows is put where the window was, with nothing around it, and is cut out again', () => {
  const box = { top: 1, left: 2, height: 1, width: 4 };
  const seen = { height: 1, width: 2, box };
  const whole = parts.resample(bytes(0, 200), seen, all(3, 8));
  assert.deepEqual(
    [0, 1, 2].map((row) => [...whole.slice(8 * row, 8 * row + 8)]),
    [new Array(8).fill(0), [0, 0, 0, 50, 150, 200, 0, 0], new Array(8).fill(0)],
  );
  assert.deepEqual([...parts.resample(whole, all(3, 8), { height: 1, width: 4, box })], [0, 50, 150, 200]);
  const elsewhere = { height: 1, width: 2, box: { ...box, top: 2 } };
  assert.deepEqual([...parts.resample(bytes(0, 200), seen, elsewhere)], [0, 0]);
});

test('a window stays inside of the frame and costs the same', () => {
  const whole = parts.fit({ height: 1200, width: 1600 }, 288);
  const corner = parts.windowOf(whole, 1580, 10, 2);
  assert.deepEqual(corner.box, { top: 0, left: 800, height: 600, width: 800 });
  assert.deepEqual([corner.inner, corner.net], [whole.inner, whole.net]);
  assert.ok(Math.abs(parts.scaleOf(corner) / parts.scaleOf(whole) - 2) < 1e-9);
  assert.deepEqual(parts.windowOf(whole, 5, 5, 1).box, whole.box);
});

test('a window is not as wide as a wide frame, of which all is seen smaller, between padding', () => {
  const whole = parts.fit({ height: 2160, width: 3840 }, 320, true);
  const net = { height: 320, width: 432 };
  assert.deepEqual([whole.view, whole.net, whole.inner], [net, net, { height: 243, width: 432 }]);
  assert.deepEqual([whole.top, whole.box.width], [38, 3840]);
  const close = parts.windowOf(whole, 1900, 1080, 1);
  assert.deepEqual([close.inner, close.top], [net, 0]);
  assert.deepEqual(close.box, { top: 0, left: 442, height: 2160, width: 2916 });
  assert.deepEqual(parts.shown(whole, parts.rasterOf(whole)), whole);
  assert.deepEqual(parts.widened(whole), parts.fit({ height: 2160, width: 3840 }, 320));
  assert.deepEqual(
    [whole, close, parts.widened(whole)].map((each) => parts.isOf(whole, parts.rasterOf(each))),
    [true, true, false],
  );
  assert.deepEqual(parts.shown(whole, parts.rasterOf(close)), close);
});

test('a frame is reduced to its short side and padded evenly to multiples of 16', () => {
  const g = parts.fit({ height: 1000, width: 1250 }, 480);
  assert.deepEqual([g.inner, g.net, g.top, g.left], [{ height: 480, width: 600 }, { height: 480, width: 608 }, 0, 4]);
  const small = parts.fit({ height: 30, width: 35 }, 480); // enlarged four times, not to 320
  assert.deepEqual(
    [small.inner, small.net],
    [
      { height: 120, width: 140 },
      { height: 128, width: 144 },
    ],
  );
});

test('the padding repeats the edge', () => {
  const g = { inner: { height: 1, width: 1 }, net: { height: 16, width: 16 }, top: 7, left: 7 };
  const rgb = new Float32Array(16 * 16 * 3);
  parts.padFrame(Uint8ClampedArray.of(1, 2, 3, 255), g, rgb);
  for (let i = 0; i < rgb.length; i++) assert.equal(rgb[i], 1 + (i % 3));
});

test('masks for the memory are means of 4 x 4 pixels', () => {
  const g = parts.fit({ height: 16, width: 16 }, 16);
  const plane = new Uint8Array(256);
  for (const i of [0, 1, 16, 17]) plane[i] = 255; // 4 of the first 16
  const out = new Float32Array(16);
  parts.reducePlane(plane, g, out, 0, 0.5);
  assert.deepEqual([...out], [0.125, ...new Array(15).fill(0)]);
});

test('a tap is a disc, a box a box, a stroke as wide as two taps', () => {
  const g = parts.fit({ height: 300, width: 600 }, 300);
  const radius = parts.markRadius(300, 600);
  assert.equal(radius, 3);
  const area = (marks) => parts.drawMarks({ ...parts.noMarks(), ...marks }, g).on.filter(Boolean).length;
  assert.ok(Math.abs(area({ on: [{ x: 50, y: 50 }] }) - Math.PI * 3.5 ** 2) < 3);
  assert.equal(area({ box: { x: 10, y: 20, width: 30, height: 40 } }), 1200);
  const line = area({
    strokes: [
      [
        { x: 20, y: 50 },
        { x: 120, y: 50 },
      ],
    ],
  });
  assert.ok(Math.abs(line - (100 * 7 + Math.PI * 3.5 ** 2)) < 10, `${line}`);
});

test('marks are where the window shows them', () => {
  const whole = parts.fit({ height: 100, width: 200 }, 100);
  const g = parts.windowOf(whole, 50, 25, 2); // the upper left quarter, twice as large
  const marks = { ...parts.noMarks(), box: { x: 10, y: 20, width: 30, height: 40 }, off: [{ x: 150, y: 80 }] };
  const { on, off } = parts.drawMarks(marks, g);
  const columns = [...on.slice(60 * 200, 61 * 200)].flatMap((value, x) => (value ? [x] : []));
  assert.deepEqual([columns[0], columns.at(-1)], [20, 79]);
  assert.equal(on.filter(Boolean).length, 60 * 60); // from 20 to the window's lower border at 50
  assert.ok(!off.some(Boolean), 'outside of the window');
});

test('the annotated frame stays, and the two latest take turns', () => {
  let memory = parts.emptyMemory({ height: 16, width: 16, objects: 1 });
  memory = { ...memory, times: parts.written(memory.times, [0, 1], 0) };
  const slots = [];
  for (let time = 1; time < 6; time++) {
    const slot = parts.oldestSlot(memory);
    slots.push([slot, [...parts.nearness(memory, time)]]);
    memory = { ...memory, times: parts.written(memory.times, [slot], time) };
  }
  assert.deepEqual(slots, [
    [2, [0, 1, 0]],
    [1, [0, 0.25, 1]],
    [2, [0, 1, 0.25]],
    [1, [0, 0.25, 1]],
    [2, [0, 1, 0.25]],
  ]);
});

test('one object drawn over another takes its place', () => {
  const inner = all(1, 3);
  const first = parts.drawObject(undefined, 1, bytes(255, 255, 0), inner, null);
  const both = parts.drawObject(first, 2, bytes(0, 255, 255), inner, null);
  assert.deepEqual(both.ids, [1, 2]);
  assert.deepEqual([...parts.planeOf(both, 1, inner)], [255, 0, 0]);
  assert.deepEqual(
    parts.planesOf(both, [2, 7], inner).map((p) => [...parts.unpack(p, 3)]),
    [
      [0, 255, 255],
      [0, 0, 0],
    ],
  );
  const state = { objects: [{ id: 1 }, { id: 2 }], frames: new Map([[0, both]]) };
  const rest = parts.removeObject(state, 1).frames.get(0);
  assert.deepEqual([rest.ids, [...rest.drawn]], [[2], [2]]);
  assert.equal(parts.removeObject(parts.removeObject(state, 1), 2).frames.size, 0);
});

test('objects are remembered by the nearest frame that somebody drew, of those that show most of them', () => {
  const inner = all(1, 2);
  const [left, right, none] = [bytes(255, 0), bytes(0, 255), bytes(0, 0)];
  const one = parts.drawObject(undefined, 1, left, inner, null);
  const both = parts.drawObject(one, 2, right, inner, null);
  const hidden = parts.drawObject(undefined, 1, none, inner, null);
  const followed = { ...both, drawn: new Set() };
  const frames = new Map([
    [0, one],
    [5, followed],
    [9, one],
    [30, both],
    [40, hidden],
  ]);
  const anchors = (ids, ...indices) => indices.map((i) => parts.anchorOf({ frames }, i, ids));
  assert.deepEqual(anchors([1], 0, 4, 5, 20, 40), [0, 0, 9, 30, 30]);
  assert.deepEqual(anchors([1, 2], 5, 30), [30, 30]);
  frames.delete(30);
  assert.deepEqual(anchors([1, 2], 5, 9), [null, 9]); // the frame itself shows more than any that was drawn
  assert.equal(parts.anchorOf({ frames: new Map() }, 3, [1]), null);
});

test('what a window found and what was drawn are kept together in the whole frame, where neither is cut off', () => {
  const canvas = all(1, 8);
  const drawn = parts.drawObject(undefined, 1, bytes(255, 255, 0, 0, 0, 0, 0, 0), canvas, null);
  const look = { x: 6, y: 0.5, zoom: 2, speed: [0, 0], growth: [0, 0], extent: null };
  const found = {
    ids: [2],
    planes: [parts.pack(bytes(0, 0, 0, 0, 255, 255, 0, 0))],
    confidence: [0.5],
    raster: { height: 1, width: 8, box: { top: 0, left: 4, height: 1, width: 4 } },
    ahead: { look, direction: 1 },
    drawn: new Set(),
    marks: new Map(),
  };
  assert.equal(parts.withFound(undefined, found, canvas), found);
  const both = parts.withFound(drawn, found, canvas);
  assert.deepEqual([both.ids, both.confidence, both.ahead], [[1, 2], [1, 0.5], null]);
  assert.deepEqual([...parts.planeOf(both, 1, canvas)], [255, 255, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...parts.planeOf(both, 2, canvas)], [0, 0, 0, 0, 0, 0, 255, 0]);
});

test('following goes on where it looked, unless it turns, objects join, or something was drawn', () => {
  const look = { x: 1, y: 1, zoom: 2, speed: [1, 0], growth: [0, 0], extent: null };
  const masks = {
    ids: [1, 2],
    planes: [parts.pack(bytes(255)), parts.pack(bytes(0))],
    confidence: [1, 1],
    raster: { height: 1, width: 1, box: { top: 0, left: 0, height: 1, width: 1 } },
    ahead: { look, direction: 1 },
    drawn: new Set(),
    marks: new Map(),
  };
  const looks = (kept, ids, direction) => parts.knownAt({ frames: new Map([[3, kept]]) }, 3, ids, direction).look;
  assert.equal(looks(masks, [1, 2], 1), look);
  assert.equal(looks(masks, [1, 2], -1), null);
  assert.equal(looks(masks, [1, 2, 3], 1), null);
  assert.equal(looks(parts.drawObject(masks, 1, bytes(255), masks.raster, null), [1, 2], 1), null);
  assert.equal(parts.removeObject({ objects: [], frames: new Map([[3, masks]]) }, 2).frames.get(3).ahead, null);
});

test('undo and redo; a new step forgets what was undone', () => {
  const history = new parts.History('a', () => {});
  history.commit('b');
  history.replace('B');
  history.commit('c');
  history.undo();
  assert.equal(history.current, 'B');
  history.undo();
  assert.equal(history.current, 'a');
  history.redo();
  assert.equal(history.current, 'B');
  history.commit('d');
  assert.ok(!history.canRedo);
});

test('the working size shrinks when several frames in a row are slow, not for one', () => {
  const pace = new parts.Pace();
  for (const time of [50, 900, 50, 50, 900, 50, 50, 50]) assert.equal(pace.add(time), null);
  const sizes = Array.from({ length: 40 }, () => pace.add(1000)).filter(Boolean);
  assert.equal(new parts.Pace(480).size, 480);
  assert.deepEqual(sizes, [288]);
});

test('numbers in half precision', () => {
  assert.deepEqual([0x3c00, 0xc000, 0x7bff, 0x0001, 0x0000, 0x3555].map(parts.half), [
    1,
    -2,
    65504,
    2 ** -24,
    0,
    0.333251953125,
  ]);
});

test('what is put beside an object is inside the picture, off the object and off the rest, and near', () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 48271) % 0x7fffffff) % most;
  const [width, height] = [640, 360];
  const size = { width: 140, height: 48 };
  let placed = 0;
  for (let round = 0; round < 200; round++) {
    const [x, y, rx, ry] = [random(width), random(height), 8 + random(240), 8 + random(180)];
    const on = (u, v) => ((u - x) / rx) ** 2 + ((v - y) / ry) ** 2 < 1;
    const taken = [{ left: random(width), top: random(height), width: 90, height: 40 }];
    const where = parts.occupied(width, height, (u, v) => (on(u, v) ? 2 : 0));
    const place = where && parts.beside(where, [size, { width: 48, height: 140 }], taken);
    if (!place) continue;
    placed++;
    const { left, top, width: w, height: h } = place;
    assert.ok(left >= 0 && top >= 0 && left + w <= width && top + h <= height);
    for (let v = top; v <= top + h; v += 2) for (let u = left; u <= left + w; u += 2) assert.ok(!on(u, v));
    const [other] = taken;
    const off = (a, long, b, far) => a + long <= b || b + far <= a;
    assert.ok(off(left, w, other.left, other.width) || off(top, h, other.top, other.height));
  }
  assert.ok(placed > 150, `${placed}`);
});

test('beside a small object it is near; a bar stands where it cannot lie; where there is no room there is none', () => {
  const sizes = [
    { width: 140, height: 48 },
    { width: 48, height: 140 },
  ];
  const within = (left, top, right, bottom) => (x, y) => (x >= left && x < right && y >= top && y < bottom ? 2 : 0);
  const small = parts.beside(parts.occupied(640, 360, within(300, 160, 340, 200)), sizes, []);
  assert.deepEqual([small.width, small.top - 200 <= 16, Math.abs(small.left + 70 - 320) <= 4], [140, true, true]);
  const wide = parts.beside(parts.occupied(308, 173, within(0, 30, 240, 150)), sizes, []);
  assert.deepEqual([wide.width, wide.left >= 240], [48, true]);
  assert.equal(parts.beside(parts.occupied(640, 360, within(20, 20, 620, 340)), sizes, []), null);
  assert.equal(
    parts.occupied(640, 360, () => 1),
    null,
  );
});
