/**
 * window.mjs: the numbers of `tracking/window.ts`, as JSON.
 * window.mjs FILE: what it makes of the cases in FILE (JSON); `tests/web/test_window.py` makes the same of them in Python.
 */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const parts = await imported('../parts.ts');
const { windowAt } = parts;
const fit = (frame, size) => parts.fit(frame, size, true);

/** Every look of a clip, with its window, from what is found frame by frame (null: lost; 'cut': another shot). */
function looks({ frame, size, first, found }) {
  const whole = fit(frame, size);
  let look = parts.firstLook(whole, first);
  const all = [look];
  for (const event of found) {
    const from = event === 'cut' ? parts.wholeFrame(whole) : look;
    look = event === 'cut' ? from : parts.nextLook(whole, look, event);
    all.push(look);
  }
  const { inner, net, top, left } = whole;
  return { whole: { inner, net, top, left }, looks: all.map((each) => ({ ...each, ...boxed(whole, each) })) };
}

const boxed = (whole, look) => ({ box: windowAt(whole, look).box, scale: parts.scaleOf(windowAt(whole, look)) });

/** Where cells are inside, through a window. */
function extent({ frame, size, look, cells }) {
  const inside = new Set(cells);
  return parts.extentOf((cell) => inside.has(cell), parts.windowOf(fit(frame, size), ...look));
}

const next = ({ frame, size, last, found }) => parts.nextLook(fit(frame, size), last, found);
const zoom = ({ frame, size, extent, room }) => parts.closestZoom(fit(frame, size), extent, room);

/** Of two frames of RGB: their palettes, and whether the film has cut between them. */
function cut({ frame, pictures }) {
  const palettes = pictures.map((rgb) => {
    const rgba = new Uint8ClampedArray(4 * frame.height * frame.width).fill(255);
    for (let i = 0; i < rgba.length; i++) if (i % 4 < 3) rgba[i] = rgb[(i >> 2) * 3 + (i % 4)];
    return parts.paletteOf(rgba, frame);
  });
  return { palettes: palettes.map((palette) => [...palette]), cut: parts.isCut(...palettes) };
}

const mask = ({ frame, cells }) => {
  const inside = new Set(cells);
  return parts.extentOfMask((cell) => inside.has(cell), parts.rasterOfAll(frame, frame));
};

if (process.argv[2]) {
  const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  const made = { looks, next, extent, zoom, cut, mask, joined: parts.joinedExtents };
  const results = Object.entries(cases).map(([name, all]) => [name, all.map((each) => made[name](each))]);
  console.log(JSON.stringify(Object.fromEntries(results)));
} else {
  console.log(JSON.stringify(parts.WINDOW));
}
