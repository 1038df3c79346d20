import { type Bytes, ascii } from './bytes';
import { crc32 } from './crc32';

const MOST_FILES = 0xffff;
const MOST_BYTES = 0xffffffff;
const MIDNIGHT_1980 = 0x0021_0000; // the date and time of every file, so that the same masks make the same zip

/** A zip of files stored as they are (PNGs do not get smaller), put together piece by piece. */
export class ZipWriter {
  private readonly parts: Bytes[] = [];
  private readonly directory: Bytes[] = [];
  private size = 0;

  /** Add a file; the name has ASCII characters only. */
  add(name: string, data: Bytes): void {
    const local = entry(0x04034b50, 30, name, data);
    if (this.directory.length === MOST_FILES || this.size + local.length + data.length > MOST_BYTES) {
      throw new Error('This is more than one zip file can hold (65,535 frames or 4 GB); export a shorter part.');
    }
    const central = entry(0x02014b50, 46, name, data);
    new DataView(central.buffer).setUint32(42, this.size, true);
    this.directory.push(central);
    this.parts.push(local, data);
    this.size += local.length + data.length;
  }

  /** The finished zip. */
  finish(): Blob {
    const end = new Uint8Array(22);
    const view = new DataView(end.buffer);
    view.setUint32(0, 0x06054b50, true);
    view.setUint16(8, this.directory.length, true);
    view.setUint16(10, this.directory.length, true);
    view.setUint32(
      12,
      this.directory.reduce((size, one) => size + one.length, 0),
      true,
    );
    view.setUint32(16, this.size, true);
    return new Blob([...this.parts, ...this.directory, end], { type: 'application/zip' });
  }
}

/** What stands before a file (30 bytes) or in the directory (46 bytes), and its name. */
function entry(signature: number, length: 30 | 46, name: string, data: Uint8Array): Bytes {
  const bytes = new Uint8Array(length + name.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  // The directory says first which version wrote it; from there on both are the same: version, flags, method 0.
  const at = length === 46 ? 6 : 4;
  if (length === 46) view.setUint16(4, 20, true);
  view.setUint16(at, 20, true);
  view.setUint32(at + 6, MIDNIGHT_1980, true);
  view.setUint32(at + 10, crc32(data), true);
  view.setUint32(at + 14, data.length, true);
  view.setUint32(at + 18, data.length, true);
  view.setUint16(at + 22, name.length, true);
  bytes.set(ascii(name), length);
  return bytes;
}
