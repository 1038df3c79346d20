/** The worker that writes files, as the page uses it. */
import type { FromWorker, Job, Part, Place, Preview, ToWorker } from './messages';
import { removeStored, storedNames } from './storage';

/** Exports that wait in the browser's storage to be downloaded. */
const EXPORTS = 'exports';
/** Hours after which nobody reads them any more. */
const OLD = 1;

export interface Watcher {
  /** A frame of the video: its masks, and its picture where `picture` says so. */
  part(index: number, picture: boolean): Promise<Part>;
  progress(done: number, total: number, bytes: number): void;
}

/** What was written. */
export interface Written {
  bytes: number;
  /** To be handed to the person; null where it is where they wanted it. */
  file: Blob | null;
}

/** Do a job in a worker of its own; an aborted signal ends it with the signal's reason. */
export function runExport(job: Job, watcher: Watcher, signal: AbortSignal): Promise<Written> {
  return written({ say: 'export', job }, watcher, signal);
}

/** Put parts of files together in a place. */
export function keepFile(parts: Blob[], place: Place, signal: AbortSignal): Promise<Written> {
  return written({ say: 'keep', parts, place }, null, signal);
}

/** A place in the storage for a file that will be downloaded from there; old ones are cleared. */
export async function placeForDownload(name: string): Promise<Place> {
  const now = Date.now();
  try {
    for (const old of await storedNames(EXPORTS)) {
      if (now - parseInt(old) > OLD * 3600_000) await removeStored(EXPORTS, old);
    }
  } catch {
    // No storage: the file is made in memory.
  }
  return { folder: EXPORTS, name: `${now}-${name}` };
}

function written(first: ToWorker, watcher: Watcher | null, signal: AbortSignal): Promise<Written> {
  const worker = started();
  const say = (message: ToWorker, transfer: Transferable[] = []) => worker.postMessage(message, transfer);
  return new Promise<Written>((resolve, reject) => {
    signal.addEventListener('abort', () => say({ say: 'cancel' }));
    worker.onerror = (event) => reject(new Error(event.message || 'The export broke off.'));
    worker.onmessage = async ({ data }: MessageEvent<FromWorker>) => {
      if (data.say === 'progress') watcher?.progress(data.done, data.total, data.bytes);
      else if (data.say === 'done') resolve({ bytes: data.bytes, file: data.file });
      else if (data.say === 'failed') reject(data.aborted ? signal.reason : new Error(data.message));
      else if (data.say === 'need') {
        try {
          const part = await watcher!.part(data.index, data.picture);
          say({ say: 'part', part }, part.picture ? [part.picture] : []);
        } catch (error) {
          reject(error);
        }
      }
    };
    signal.throwIfAborted();
    say(first);
  }).finally(() => worker.terminate());
}

/** Shows frames as they will look. Of several asked for in a row, the last counts. */
export class Previewer {
  private worker: Worker | undefined;
  private number = 0;
  private waiting: ((picture: ImageBitmap | null) => void) | undefined;

  /** Null where another was asked for meanwhile. */
  show(preview: Omit<Preview, 'number'>): Promise<ImageBitmap | null> {
    this.waiting?.(null);
    this.worker ??= this.start();
    const message: ToWorker = { say: 'preview', preview: { number: ++this.number, ...preview } };
    return new Promise((resolve) => {
      this.waiting = resolve;
      this.worker!.postMessage(message, [preview.picture]);
    });
  }

  private start(): Worker {
    const worker = started();
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.say !== 'preview') return;
      if (data.number !== this.number) return data.picture?.close();
      this.waiting?.(data.picture);
      this.waiting = undefined;
    };
    worker.onerror = () => {
      this.worker = undefined;
      this.waiting?.(null);
    };
    return worker;
  }
}

function started(): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), { name: 'mobilevos-export' });
}
