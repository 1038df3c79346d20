// node scripts/draw-icons.mjs: the PNG icons, drawn from public/icons/icon.svg by Chromium.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launched } from '../tests/export/chromium.mjs';

const folder = new URL('../public/icons/', import.meta.url);
const svg = readFileSync(new URL('icon.svg', folder), 'utf8');
const square = svg.replace('rx="112"', 'rx="0"'); // the system rounds the corners itself
// Systems may cut a maskable icon to a circle of 80 %: the drawing is made smaller, the ground stays.
const maskable = square.replace('scale(1.25)', 'scale(1)');
const icons = [
  ['icon-192.png', 192, svg],
  ['icon-512.png', 512, svg],
  ['maskable-512.png', 512, maskable],
  ['apple-touch-icon.png', 180, square],
];

const browser = await launched();
try {
  const page = await browser.newPage();
  for (const [name, size, drawing] of icons) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(`<style>body{margin:0}svg{display:block;width:100vw;height:100vh}</style>${drawing}`);
    await page.screenshot({ path: fileURLToPath(new URL(name, folder)), omitBackground: true });
  }
} finally {
  await browser.close();
}
