/** An object in one frame. */
export interface Region {
  id: number;
  /** The lengths of runs down the columns, zeros first. */
  counts: number[];
  area: number;
  /** x, y, width, height. */
  bbox: [number, number, number, number];
}

/** The objects in `labels` (width * height ids, row by row), by rising id: one pass over the pixels for all of them. */
export function regions(labels: Uint8Array, width: number, height: number): Region[] {
  const growing = new Map<number, Growing>();
  let current = 0;
  for (let x = 0, at = 0; x < width; x++) {
    for (let y = 0; y < height; y++, at++) {
      const id = labels[y * width + x]!;
      if (id !== current) {
        if (current !== 0) growing.get(current)!.ends(at);
        if (id !== 0) {
          if (!growing.has(id)) growing.set(id, new Growing(x));
          growing.get(id)!.begins(at);
        }
        current = id;
      }
      if (id !== 0) growing.get(id)!.has(x, y);
    }
  }
  if (current !== 0) growing.get(current)!.ends(width * height);
  return [...growing].sort(([a], [b]) => a - b).map(([id, one]) => one.region(id, width * height));
}

class Growing {
  private readonly counts: number[] = [];
  private edge = 0;
  private area = 0;
  private top = Infinity;
  private bottom = 0;
  private right = 0;

  constructor(private readonly left: number) {}

  begins(at: number): void {
    this.counts.push(at - this.edge);
    this.edge = at;
  }

  ends(at: number): void {
    this.counts.push(at - this.edge);
    this.area += at - this.edge;
    this.edge = at;
  }

  has(x: number, y: number): void {
    this.right = x;
    if (y < this.top) this.top = y;
    if (y > this.bottom) this.bottom = y;
  }

  region(id: number, size: number): Region {
    const counts = this.edge < size ? [...this.counts, size - this.edge] : this.counts;
    const bbox: Region['bbox'] = [this.left, this.top, this.right - this.left + 1, this.bottom - this.top + 1];
    return { id, counts, area: this.area, bbox };
  }
}

/**
 * COCO's text for run lengths: from the fourth on the difference to the one two before; each number in groups of five
 * bits, lowest first, with a sixth that says whether more follow, as a character from "0" on.
 */
export function compressed(counts: number[]): string {
  let text = '';
  counts.forEach((count, i) => {
    let value = i > 2 ? count - counts[i - 2]! : count;
    for (let more = true; more;) {
      const low = value & 31;
      value >>= 5;
      more = low & 16 ? value !== -1 : value !== 0;
      text += String.fromCharCode(48 + low + (more ? 32 : 0));
    }
  });
  return text;
}
