/** Bytes of pictures that are kept. */
const ROOM = 256e6;

/** The most recently used pictures, as many as there is room for, or so many. */
export class FrameCache {
  private readonly kept = new Map<number, ImageBitmap>();
  readonly room: number;

  constructor(width: number, height: number, count?: number) {
    this.room = count ?? Math.max(12, Math.floor(ROOM / (4 * width * height)));
  }

  get(index: number): ImageBitmap | undefined {
    const found = this.kept.get(index);
    if (found) {
      this.kept.delete(index);
      this.kept.set(index, found);
    }
    return found;
  }

  put(index: number, bitmap: ImageBitmap): void {
    this.kept.get(index)?.close();
    this.kept.delete(index);
    this.kept.set(index, bitmap);
    if (this.kept.size <= this.room) return;
    const [oldest, picture] = this.kept.entries().next().value!;
    this.kept.delete(oldest);
    picture.close();
  }

  clear(): void {
    for (const bitmap of this.kept.values()) bitmap.close();
    this.kept.clear();
  }
}
