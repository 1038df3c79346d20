/**
 * Connected parts of a mask: which of them are what was marked, and which are strays.
 *
 * The same rule as the Python package's `tracking/parts.py`; `tests/web/test_constraints.py` compares the masks.
 */
import type { Size } from './geometry';

/** What the number means is said beside that of the same name in `tracking/parts.py`. */
export const PARTS = { NEAR: 0.5 } as const;

/** Connected parts of the cells that are inside, numbered from 0 in the order in which they are met; -1 outside. */
export function partsOf(inside: Uint8Array, { height, width }: Size): { parts: Int32Array; sizes: number[] } {
  const parts = new Int32Array(inside.length).fill(-1);
  const sizes: number[] = [];
  for (let start = 0; start < inside.length; start++) {
    if (!inside[start] || parts[start] >= 0) continue;
    const part = sizes.length;
    const open = [start];
    parts[start] = part;
    let count = 0;
    while (open.length) {
      const at = open.pop()!;
      count++;
      const [y, x] = [Math.floor(at / width), at % width];
      for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++) {
        for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
          const next = row * width + column;
          if (!inside[next] || parts[next] >= 0) continue;
          parts[next] = part;
          open.push(next);
        }
      }
    }
    sizes.push(count);
  }
  return { parts, sizes };
}

/** The parts of a mask (1 inside, 0 outside) that are far from those with a mark on them: something alike, elsewhere. */
export function strays(mask: Uint8Array, marks: Uint8Array, size: Size): Uint8Array {
  const { parts, sizes } = partsOf(mask, size);
  const marked = new Set<number>();
  parts.forEach((part, i) => part >= 0 && marks[i] && marked.add(part));
  const out = new Uint8Array(mask.length);
  if (!marked.size || marked.size === sizes.length) return out;
  const boxes = sizes.map(() => ({ left: size.width, top: size.height, right: 0, bottom: 0 }));
  const held = { left: size.width, top: size.height, right: 0, bottom: 0 };
  parts.forEach((part, i) => {
    if (part < 0) return;
    const [y, x] = [Math.floor(i / size.width), i % size.width];
    for (const box of marked.has(part) ? [boxes[part], held] : [boxes[part]]) {
      box.left = Math.min(box.left, x);
      box.top = Math.min(box.top, y);
      box.right = Math.max(box.right, x + 1);
      box.bottom = Math.max(box.bottom, y + 1);
    }
  });
  const reach = PARTS.NEAR * Math.sqrt([...marked].reduce((sum, part) => sum + sizes[part], 0));
  const far = boxes.map(
    ({ left, top, right, bottom }) =>
      Math.max(left - held.right, held.left - right, top - held.bottom, held.top - bottom) > reach,
  );
  parts.forEach((part, i) => part >= 0 && far[part] && (out[i] = 1));
  return out;
}
