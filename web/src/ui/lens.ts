/** What part of the video is seen: all of it, or closer. Places on screen are from 0 to 1 of what is shown. */
import type { Point } from '../tracking/marks';

const CLOSEST = 16;
/** Video pixels that are still to be seen across, however close. */
const FEWEST = 24;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export class Lens {
  zoom = 1;
  private left = 0;
  private top = 0;
  private width = 1;
  private height = 1;

  /** All of a video of this size. */
  reset(size: { width: number; height: number }): void {
    [this.width, this.height] = [size.width, size.height];
    [this.zoom, this.left, this.top] = [1, 0, 0];
  }

  /** In pixels of the video. */
  get part(): { left: number; top: number; width: number; height: number } {
    return { left: this.left, top: this.top, width: this.width / this.zoom, height: this.height / this.zoom };
  }

  toVideo(u: number, v: number): Point {
    const { left, top, width, height } = this.part;
    const within = (value: number, size: number) => Math.min(Math.max(value, 0), size - 1);
    return { x: within(left + u * width, this.width), y: within(top + v * height, this.height) };
  }

  /** Closer or farther by a factor; what is at (u, v) stays there. */
  zoomAt(u: number, v: number, factor: number): void {
    const before = this.part;
    const most = Math.max(1, Math.min(CLOSEST, Math.min(this.width, this.height) / FEWEST));
    this.zoom = Math.min(most, Math.max(1, this.zoom * factor));
    const after = this.part;
    this.left = before.left + u * (before.width - after.width);
    this.top = before.top + v * (before.height - after.height);
    this.keepInside();
  }

  /** Move what is seen along with the pointer. */
  pan(du: number, dv: number): void {
    const { width, height } = this.part;
    this.left -= du * width;
    this.top -= dv * height;
    this.keepInside();
  }

  /** From now on the canvas is drawn on in pixels of the video. */
  apply(context: Context): void {
    const { left, top, width, height } = this.part;
    const [sx, sy] = [context.canvas.width / width, context.canvas.height / height];
    context.setTransform(sx, 0, 0, sy, -left * sx, -top * sy);
  }

  private keepInside(): void {
    const { width, height } = this.part;
    this.left = Math.min(Math.max(this.left, 0), this.width - width);
    this.top = Math.min(Math.max(this.top, 0), this.height - height);
  }
}
