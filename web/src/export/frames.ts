import type { TrackedVideo, Writing } from './types';

/**
 * The numbers of the frames, in order, one at a time. Messages are read between two of them; an aborted signal ends it
 * by throwing the signal's reason.
 */
export async function* frameNumbers({ video, progress, signal }: Writing): AsyncGenerator<number> {
  const total = video.timestamps.length;
  if (total === 0) throw new Error('There is nothing to export yet: no frame has been followed.');
  for (let i = 0; i < total; i++) {
    signal.throwIfAborted();
    yield i;
    progress(i + 1, total);
    await nextTask();
  }
  signal.throwIfAborted();
}

/** The plane of frame i, checked: a wrong size would shear every picture made from it. */
export function checkedPlane(video: TrackedVideo, plane: Uint8Array, what: string): Uint8Array {
  const expected = video.width * video.height;
  if (plane.length !== expected) {
    throw new Error(`Expected ${what} of ${video.width} x ${video.height} = ${expected} pixels, got ${plane.length}.`);
  }
  return plane;
}

/** Frame i in files: five digits, as in DAVIS. */
export function frameName(i: number): string {
  return String(i).padStart(5, '0');
}

/** Let others have their turn. Timers would do, but they slow down to one a second in a tab that is not in front. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
