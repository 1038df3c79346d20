/** Where the bytes of an export go: to disk as they are made, so that no file is ever whole in memory. */
import type { StreamTargetChunk } from 'mediabunny';

/** Takes bytes at any place of a file. */
export interface Destination {
  write(data: Uint8Array<ArrayBuffer>, position: number): Promise<void>;
  /** The file, where the page still has to hand it to the person; null where it lies where they wanted it. */
  close(): Promise<Blob | null>;
  /** Leave nothing behind. */
  discard(): Promise<void>;
}

/** A file that is being written. */
export class Sink {
  /** Bytes so far. */
  size = 0;

  constructor(private readonly destination: Destination) {}

  async append(data: Uint8Array<ArrayBuffer> | string): Promise<void> {
    await this.write(typeof data === 'string' ? new TextEncoder().encode(data) : data, this.size);
  }

  /** All that a stream has. */
  async pipe(stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        await this.append(value as Uint8Array<ArrayBuffer>);
      }
    } catch (error) {
      await reader.cancel(error).catch(() => undefined);
      throw error;
    }
  }

  /** For muxers, which go back to fill in what they learn at the end. */
  stream(): WritableStream<StreamTargetChunk> {
    return new WritableStream({ write: ({ data, position }) => this.write(data, position) });
  }

  close(): Promise<Blob | null> {
    return this.destination.close();
  }

  discard(): Promise<void> {
    return this.destination.discard();
  }

  private async write(data: Uint8Array<ArrayBuffer>, position: number): Promise<void> {
    await this.destination.write(data, position);
    this.size = Math.max(this.size, position + data.length);
  }
}

/** A file that the person has chosen. It is as it was until all of the new one is there. */
export async function toFile(handle: FileSystemFileHandle): Promise<Destination> {
  const writable = await handle.createWritable();
  return {
    write: (data, position) => writable.write({ type: 'write', data, position }),
    async close() {
      await writable.close();
      return null;
    },
    discard: () => writable.abort().catch(() => undefined),
  };
}

/** What workers have beyond the types of pages. */
interface SyncAccess {
  write(data: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

/** A file of the browser's own storage, from which it is downloaded or read again; in a worker only. */
export async function toStorage(folder: FileSystemDirectoryHandle, name: string): Promise<Destination> {
  const handle = await folder.getFileHandle(name, { create: true });
  const access = await (
    handle as unknown as { createSyncAccessHandle(): Promise<SyncAccess> }
  ).createSyncAccessHandle();
  access.truncate(0);
  return {
    async write(data, position) {
      if (access.write(data, { at: position }) !== data.length) throw new Error('The disk is full.');
    },
    async close() {
      access.flush();
      access.close();
      return handle.getFile();
    },
    async discard() {
      access.close();
      await folder.removeEntry(name).catch(() => undefined);
    },
  };
}

/** For browsers that give pages no storage. */
export function toMemory(): Destination {
  const parts: { data: Uint8Array<ArrayBuffer>; position: number }[] = [];
  return {
    async write(data, position) {
      parts.push({ data: data.slice(), position }); // the writer may use its buffer again
    },
    async close() {
      const size = parts.reduce((end, { data, position }) => Math.max(end, position + data.length), 0);
      const whole = new Uint8Array(size);
      for (const { data, position } of parts) whole.set(data, position);
      return new Blob([whole]);
    },
    async discard() {
      parts.length = 0;
    },
  };
}
