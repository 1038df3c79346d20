/** The worker: the network and the tracker, away from the page so that it never stutters. */
import { Tracker, type Drawn } from '../tracking/tracker';
import type { Geometry, Size } from '../tracking/geometry';
import { pack, resizePlane, unpack, winners, type Packed } from '../tracking/planes';
import type { Calls, CallName, Masked, Picture, Reply, Request } from './messages';
import { openEngine } from './open';

interface Port {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Reply, transfer: Transferable[]): void;
}

const port = self as unknown as Port;
let tracker: Tracker | undefined;
let canvas: OffscreenCanvasRenderingContext2D | undefined;

type Handlers = { [K in CallName]: (request: Calls[K]['request']) => Promise<Calls[K]['reply']> };

const handlers: Handlers = {
  async load({ model, accelerator }) {
    const engine = await openEngine(model, accelerator);
    tracker = new Tracker(engine);
    return { engine: engine.name, mostObjects: tracker.mostObjects() };
  },

  async warm({ geometry }) {
    await loaded().warm(geometry);
    return {};
  },

  async propose({ geometry, bitmap, marks, before }) {
    const known = before && unpack(before, geometry.inner.height * geometry.inner.width);
    return masked(await loaded().propose(geometry, pixels(bitmap, geometry), marks, known));
  },

  async begin({ geometry, anchor, previous }) {
    await loaded().begin(geometry, drawn(anchor, geometry), previous && drawn(previous, geometry));
    return {};
  },

  async step({ bitmap }) {
    return masked(await loaded().step(pixels(bitmap, loaded().geometry)));
  },

  async expand({ planes, ids, inner, frame, what }) {
    return { pixels: what === 'labels' ? labels(planes, ids, inner, frame) : alpha(planes, inner, frame) };
  },
};

function loaded(): Tracker {
  if (!tracker) throw new Error('The model is not loaded yet.');
  return tracker;
}

/** RGBA of a picture that already has the network's inner size. Closes the bitmap. */
function pixels(bitmap: ImageBitmap, { inner }: Geometry): Uint8ClampedArray {
  canvas ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
  const { width, height } = inner;
  if (canvas.canvas.width !== width || canvas.canvas.height !== height) {
    canvas.canvas.width = width;
    canvas.canvas.height = height;
  }
  canvas.clearRect(0, 0, width, height);
  canvas.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return canvas.getImageData(0, 0, width, height).data;
}

function drawn({ bitmap, planes }: Picture, geometry: Geometry): Drawn {
  const area = geometry.inner.height * geometry.inner.width;
  return { pixels: pixels(bitmap, geometry), planes: planes.map((packed) => unpack(packed, area)) };
}

function masked(found: { planes: Uint8Array[]; confidence: number[] }): Masked {
  return { planes: found.planes.map(pack), confidence: found.confidence };
}

function enlarged(planes: Packed[], inner: Size, frame: Size): Uint8Array[] {
  return planes.map((packed) => resizePlane(unpack(packed, inner.height * inner.width), inner, frame));
}

function labels(planes: Packed[], ids: number[], inner: Size, frame: Size): Uint8Array<ArrayBuffer> {
  const found = winners(enlarged(planes, inner, frame), frame.height * frame.width);
  const names = [0, ...ids];
  for (let i = 0; i < found.length; i++) found[i] = names[found[i]];
  return found;
}

function alpha(planes: Packed[], inner: Size, frame: Size): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(frame.height * frame.width);
  for (const plane of enlarged(planes, inner, frame)) {
    for (let i = 0; i < out.length; i++) out[i] = Math.min(255, out[i] + plane[i]);
  }
  return out;
}

async function answer(request: Request): Promise<void> {
  const reply: Reply = { number: request.number };
  try {
    const handler = handlers[request.call] as (request: Request) => Promise<Calls[CallName]['reply']>;
    reply.result = await handler(request);
  } catch (error) {
    reply.error = error instanceof Error ? error.message : String(error);
  }
  port.postMessage(reply, buffers(reply.result));
}

/** What can be handed over instead of copied. */
function buffers(result: Reply['result']): Transferable[] {
  if (!result) return [];
  if ('planes' in result) return result.planes.map((plane) => plane.buffer);
  return 'pixels' in result ? [result.pixels.buffer] : [];
}

// One request at a time: each builds on the memory that the one before left.
let queue: Promise<void> = Promise.resolve();
port.onmessage = ({ data }) => {
  queue = queue.then(() => answer(data));
};
