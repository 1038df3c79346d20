import type { TrackedVideo } from '../../src/export/types';

/**
 * A clip of known content: object 1 is a disk with a soft edge that moves to the right, object 2 a square that shows up
 * in every second frame. Its frames come at uneven times.
 */
export function madeVideo(width: number, height: number, timestamps: number[]): TrackedVideo {
  const radius = height / 4;
  const distance = (i: number, x: number, y: number): number =>
    Math.hypot(x - (radius + 4 + 3 * i), y - height / 2) - radius;
  const square = (i: number, x: number, y: number): boolean =>
    i % 2 === 1 && x >= width - 10 && x < width - 3 && y >= 2 && y < 9;
  const plane = (value: (x: number, y: number) => number): Uint8Array =>
    Uint8Array.from({ length: width * height }, (_, p) => value(p % width, Math.floor(p / width)));
  return {
    width,
    height,
    first: 0,
    timestamps,
    sound: null,
    durations: timestamps.map((time, i) => (timestamps[i + 1] ?? time + 0.04) - time),
    names: ['disk', 'square'],
    frame: async (i) => {
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext('2d')!;
      context.fillStyle = 'rgb(40, 90, 200)';
      context.fillRect(0, 0, width, height);
      context.fillStyle = 'rgb(220, 60, 40)';
      context.beginPath();
      context.arc(radius + 4 + 3 * i + 0.5, height / 2 + 0.5, radius + 6, 0, 7);
      context.fill();
      context.fillStyle = 'rgb(40, 200, 80)';
      if (i % 2 === 1) context.fillRect(width - 12, 0, 12, 12);
      return canvas;
    },
    labels: async (i) => plane((x, y) => (square(i, x, y) ? 2 : distance(i, x, y) <= 0 ? 1 : 0)),
    alpha: async (i) =>
      plane((x, y) =>
        square(i, x, y) ? 255 : Math.round(255 * Math.min(1, Math.max(0, 0.5 - distance(i, x, y) / 6))),
      ),
  };
}
