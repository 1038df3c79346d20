import { type Bytes, ascii, joined } from './bytes';
import { crc32 } from './crc32';

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);

/** An 8-bit palette PNG: `indices` width * height, `palette` 256 x RGB. Indices come back exactly. */
export async function indexedPng(
  indices: Uint8Array,
  width: number,
  height: number,
  palette: Uint8Array,
): Promise<Bytes> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8; // bits an index
  header[9] = 3; // palette
  const rows = new Uint8Array(height * (width + 1)); // each row begins with its filter: 0, none, best for indices
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return joined([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', await deflated(rows)),
    chunk('IEND', new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Bytes {
  const whole = joined([new Uint8Array(4), ascii(type), data, new Uint8Array(4)]);
  const view = new DataView(whole.buffer);
  view.setUint32(0, data.length);
  view.setUint32(whole.length - 4, crc32(whole.subarray(4, -4)));
  return whole;
}

async function deflated(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
