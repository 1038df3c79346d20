/**
 * The model's files: weights once, in half precision, and a template per number of objects, from which the TFLite file
 * of any frame size is put together. `mobilevos/export/tflite_template.py` describes them.
 */
import type { Size } from '../tracking/geometry';

interface Template {
  file: string;
  size: number;
  holes: [position: number, tensor: number][];
  sizes: [[rows: number, columns: number, times: number, plus: number], positions: number[]][];
  coordinates: [position: number, rows: number, columns: number][];
}

interface Manifest {
  format: string;
  weights: [name: string, layout: string, type: 'f16' | 'f32', count: number][];
  templates: Record<string, Template>;
}

const FORMAT = 'mobilevos-tflite-1';

export class ModelFiles {
  private readonly kept = new Map<string, Uint8Array>();

  private constructor(
    private readonly folder: string,
    private readonly manifest: Manifest,
    private readonly weights: readonly Float32Array[],
  ) {}

  static async open(folder: string): Promise<ModelFiles> {
    const [text, data] = await Promise.all([fetched(folder, 'manifest.json'), fetched(folder, 'weights.bin')]);
    const manifest = JSON.parse(new TextDecoder().decode(text)) as Manifest;
    if (manifest.format !== FORMAT)
      throw new Error(`Expected a model in the format ${FORMAT}, got ${manifest.format}.`);
    return new ModelFiles(folder, manifest, tensors(manifest, data));
  }

  /** For how many objects there are templates, rising. */
  get objects(): number[] {
    return Object.keys(this.manifest.templates)
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** The TFLite file for frames of a size in multiples of 16. */
  async assemble({ height, width }: Size, objects: number): Promise<Uint8Array> {
    const template = this.manifest.templates[objects];
    const rest = this.kept.get(template.file) ?? (await fetched(this.folder, template.file));
    this.kept.set(template.file, rest);
    const out = new Uint8Array(template.size);
    const view = new DataView(out.buffer);
    let [to, from] = [0, 0];
    for (const [position, tensor] of template.holes) {
      out.set(rest.subarray(from, from + position - to), to);
      from += position - to;
      const weights = this.weights[tensor];
      out.set(new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength), position);
      to = position + weights.byteLength;
    }
    out.set(rest.subarray(from), to);
    const size = (rows: number, columns: number) =>
      (rows ? Math.ceil(height / rows) : 1) * (columns ? Math.ceil(width / columns) : 1);
    for (const [[rows, columns, times, plus], positions] of template.sizes) {
      for (const position of positions) view.setInt32(position, size(rows, columns) * times + plus, true);
    }
    for (const [position, rows, columns] of template.coordinates) {
      const count = size(rows, columns);
      for (let i = 0; i < count; i++) view.setFloat32(position + 4 * i, i - (count - 1) / 2, true);
    }
    return out;
  }
}

async function fetched(folder: string, file: string): Promise<Uint8Array> {
  let response: Response;
  try {
    response = await fetch(new URL(file, folder));
  } catch {
    throw new Error('The model cannot be loaded. Check the connection and reload the page.');
  }
  if (!response.ok) throw new Error(`The model cannot be loaded (${file}: ${response.status}).`);
  return new Uint8Array(await response.arrayBuffer());
}

function tensors(manifest: Manifest, data: Uint8Array): Float32Array[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  return manifest.weights.map(([, , type, count]) => {
    const out = new Float32Array(count);
    for (let i = 0; i < count; i++, at += type === 'f16' ? 2 : 4) {
      out[i] = type === 'f16' ? half(view.getUint16(at, true)) : view.getFloat32(at, true);
    }
    return out;
  });
}

/** A number in half precision. */
export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
