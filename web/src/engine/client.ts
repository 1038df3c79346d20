/** The worker, as the page calls it. */
import type { Calls, CallName, Reply } from './messages';

/** The worker is gone, for instance because the browser ran out of memory. What was found so far is safe. */
export class EngineLost extends Error {}

export class EngineClient {
  private worker: Worker | undefined;
  private number = 0;
  private readonly waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();

  /** `lost` is told when the worker is gone. */
  constructor(private readonly lost: () => void) {}

  call<K extends CallName>(call: K, request: Calls[K]['request'], transfer: Transferable[] = []) {
    return new Promise<Calls[K]['reply']>((resolve, reject) => {
      this.worker ??= this.start();
      const number = ++this.number;
      this.waiting.set(number, { resolve, reject });
      this.worker.postMessage({ call, number, ...request }, transfer);
    });
  }

  /** End the worker; the next call starts another. Calls under way fail. */
  stop(reason = 'The computation was stopped.'): void {
    this.worker?.terminate();
    this.worker = undefined;
    for (const { reject } of this.waiting.values()) reject(new EngineLost(reason));
    this.waiting.clear();
    this.lost();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { name: 'mobilevos' });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      const call = this.waiting.get(data.number);
      this.waiting.delete(data.number);
      if (data.error !== undefined) call?.reject(new Error(data.error));
      else call?.resolve(data.result as never);
    };
    worker.onerror = (event) => this.stop(event.message || 'The computation broke off.');
    return worker;
  }
}
