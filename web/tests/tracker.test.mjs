/** The tracker, with a made-up network that finds red in one channel and green in the other, wherever it looks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imported } from './export/bundle.mjs';

const parts = await imported('../parts.ts');
const SIZE = { height: 640, width: 960 };
const WHOLE = parts.fit(SIZE, 320, true);
const ALL = parts.rasterOfAll(SIZE, SIZE);
const [RED, GREEN] = [0, 1];

class ColorEngine {
  name = 'made up';
  objects = [1, 2, 4];
  given = [];

  async load(shape) {
    this.shape = shape;
  }

  async step({ frame, given, memory, write, time }) {
    if (given) this.given.push(given);
    const { height, width, objects } = this.shape;
    const plane = height * width;
    const probabilities = new Float32Array((1 + objects) * plane);
    for (let i = 0; i < plane; i++) {
      const winner = frame[3 * i + RED] > 200 ? 1 : frame[3 * i + GREEN] > 200 ? 2 : 0;
      probabilities[Math.min(winner, objects) * plane + i] = 1;
    }
    return {
      probabilities,
      memory: { times: parts.written(memory.times, write, time), keys: this.keys(probabilities, memory, write) },
      rating: new Float32Array(objects).fill(0.5),
    };
  }

  /** What is in the middle of each cell, as a key: all that is of one colour looks alike. */
  keys(probabilities, memory, write) {
    const { height, width, objects } = this.shape;
    const keys = memory.keys.slice();
    const across = width / 16;
    const cells = (height / 16) * across;
    for (let cell = 0; cell < cells; cell++) {
      const at = (16 * Math.floor(cell / across) + 8) * width + 16 * (cell % across) + 8;
      for (const slot of write) {
        for (let channel = 0; channel < 64; channel++) {
          const value = channel <= objects ? 20 * probabilities[channel * height * width + at] : 0;
          keys[(channel * parts.SLOTS + slot) * cells + cell] = value;
        }
      }
    }
    return keys;
  }
}

/** Squares {x, y, side, color} on a ground of one brightness; `boxes` are the parts of it that were looked at. */
class Picture {
  boxes = [];

  constructor(squares, ground = 40) {
    Object.assign(this, { squares, ground });
  }

  at(x, y) {
    const square = this.squares.find((s) => Math.abs(x - s.x) < s.side / 2 && Math.abs(y - s.y) < s.side / 2);
    return [RED, GREEN, 2].map((channel) => (square?.color === channel ? 255 : square ? 0 : this.ground));
  }

  pixels({ inner, box }) {
    this.boxes.push(box);
    const rgba = new Uint8ClampedArray(4 * inner.height * inner.width);
    for (let row = 0, i = 0; row < inner.height; row++) {
      for (let column = 0; column < inner.width; column++, i += 4) {
        const x = box.left + ((column + 0.5) * box.width) / inner.width;
        rgba.set([...this.at(x, box.top + ((row + 0.5) * box.height) / inner.height), 255], i);
      }
    }
    return rgba;
  }

  palette() {
    const size = { height: 32, width: 48 };
    const rgba = new Uint8ClampedArray(4 * 32 * 48);
    for (let i = 0; i < 32 * 48; i++) rgba.set([...this.at((i % 48) * 20, Math.floor(i / 48) * 20), 255], 4 * i);
    return parts.paletteOf(rgba, size);
  }

  /** The mask of each colour, in the whole frame. */
  drawn(...colors) {
    const planes = colors.map((color) =>
      Uint8Array.from({ length: SIZE.height * SIZE.width }, (_, i) => {
        const found = this.at((i % SIZE.width) + 0.5, Math.floor(i / SIZE.width) + 0.5);
        return found[color] === 255 ? 255 : 0;
      }),
    );
    return { frame: this, planes, raster: ALL, look: null };
  }
}

const square = (x, y, side, color = RED) => ({ x, y, side, color });
const tracker = () => new parts.Tracker(new ColorEngine());
/** Where the objects of a step are in the whole frame. */
const found = ({ planes, raster }) =>
  planes.map((plane) => {
    const whole = parts.resample(plane, raster, ALL);
    return parts.extentOfMask((i) => whole[i] > 127, ALL);
  });
const close = (extent, { x, y, side }, by) => {
  const edges = [x - side / 2, y - side / 2, x + side / 2, y + side / 2];
  [extent.left, extent.top, extent.right, extent.bottom].forEach((edge, i) =>
    assert.ok(Math.abs(edge - edges[i]) <= by, `${edge} instead of ${edges[i]}`),
  );
};

test('a small object is annotated and followed through a window that moves with it', async () => {
  const follower = tracker();
  const first = new Picture([square(300, 200, 60)]);
  await follower.begin(WHOLE, first.drawn(RED), null);
  assert.deepEqual(first.boxes, [{ top: 54, left: 104, height: 291, width: 393 }]); // 2.2 times, around (300, 200)
  for (let time = 1; time <= 12; time++) {
    const now = square(300 + 20 * time, 200 + 8 * time, 60);
    const picture = new Picture([now]);
    const step = await follower.step(picture);
    const [box] = picture.boxes;
    assert.ok(box.left > 0 && box.width < 600, `close, got ${JSON.stringify(box)}`);
    assert.deepEqual(step.raster.box, box);
    assert.ok(step.confidence[0] > 0.8, `sure, got ${step.confidence[0]}`);
    close(found(step)[0], now, 2); // finer than the three pixels of a cell of the whole frame
  }
});

test('two objects share a window that holds both; where one is lost, it grows to the whole frame', async () => {
  const follower = tracker();
  const [one, other] = [square(420, 300, 50, RED), square(520, 330, 50, GREEN)];
  const first = new Picture([one, other]);
  await follower.begin(WHOLE, first.drawn(RED, GREEN), null);
  const both = new Picture([one, other]);
  const step = await follower.step(both);
  found(step).forEach((extent, n) => close(extent, [one, other][n], 2));
  assert.ok(both.boxes[0].width < 500);
  const widths = [];
  for (let time = 0; time < 6; time++) {
    const picture = new Picture([one]);
    const { confidence } = await follower.step(picture);
    assert.equal(confidence[1], 0);
    widths.push(picture.boxes[0].width);
  }
  assert.deepEqual(
    widths,
    [...widths].sort((a, b) => a - b),
  );
  assert.equal(widths.at(-1), SIZE.width);
});

test('after a cut all of the height is looked at', async () => {
  const follower = tracker();
  const first = new Picture([square(300, 200, 60)]);
  await follower.begin(WHOLE, first.drawn(RED), null);
  const shot = new Picture([square(800, 500, 60)], 150);
  const step = await follower.step(shot);
  assert.deepEqual(shot.boxes, [{ top: 0, left: 48, height: 640, width: 864 }]);
  close(found(step)[0], shot.squares[0], 4);
});

test('going on from a frame with its look gives what going on at once gives; a drawn one is looked at anew', async () => {
  const pictures = Array.from({ length: 8 }, (_, t) => new Picture([square(300 + 25 * t, 200, 60)]));
  const follower = tracker();
  await follower.begin(WHOLE, pictures[0].drawn(RED), null);
  const steps = [];
  for (const picture of pictures.slice(1)) steps.push(await follower.step(picture));
  const { planes, raster, look } = steps[3]; // of picture 4
  const later = tracker();
  const again = (kept) =>
    later.begin(WHOLE, pictures[0].drawn(RED), { frame: pictures[4], planes, raster, look: kept });
  await again(look);
  assert.deepEqual(pictures[4].boxes.at(-1), pictures[4].boxes[0]); // remembered as it was seen
  assert.deepEqual(await later.step(pictures[5]), steps[4]);
  await again(null);
  const [speed] = (await later.step(pictures[5])).look.speed;
  assert.ok(Math.abs(speed - 25 / 4) < 1, `${speed}`); // a quarter of one frame's motion: it begins to move again
});

test('marks are read twice: with all around them, and through a window around what was found and marked', async () => {
  const marks = { ...parts.noMarks(), on: [{ x: 300, y: 200 }] };
  const small = new Picture([square(300, 200, 60)]);
  const proposal = await tracker().propose(WHOLE, small, marks, null);
  const window = { top: 54, left: 104, height: 291, width: 393 };
  const around = { top: 0, left: 0, height: 640, width: 864 };
  assert.deepEqual(small.boxes, [around, window, window]); // with the marks, then with what was found
  close(found(proposal)[0], small.squares[0], 2);
  const large = new Picture([square(480, 320, 500)]);
  await tracker().propose(WHOLE, large, { ...parts.noMarks(), on: [{ x: 480, y: 320 }] }, null);
  for (const { height, width } of large.boxes) assert.deepEqual([height, width], [640, 864]); // no closer than that
  assert.equal(large.boxes.length, 3);
});

test('a mask that is known takes the place of the first look, and is remembered beside the marks', async () => {
  const engine = new ColorEngine();
  const picture = new Picture([square(300, 200, 60)]);
  const marks = { ...parts.noMarks(), box: { x: 280, y: 180, width: 40, height: 40 } };
  const before = new Uint8Array(WHOLE.inner.height * WHOLE.inner.width).fill(255);
  await new parts.Tracker(engine).propose(WHOLE, picture, marks, before);
  assert.equal(engine.given.length, 2);
  const cells = (WHOLE.net.height / 4) * (WHOLE.net.width / 4);
  const most = (given) => Math.max(...given.subarray(0, cells));
  assert.deepEqual(engine.given.map(most), [0.5, 1]);
});
