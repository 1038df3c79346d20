/** The worker: the network and the tracker, away from the page so that it never stutters. */
import { obeyed } from '../tracking/constraints';
import type { Raster } from '../tracking/geometry';
import type { Marks, Point } from '../tracking/marks';
import { pack, unpack, winners, type Packed } from '../tracking/planes';
import { Tracker, type Drawn, type Found } from '../tracking/tracker';
import { BitmapFrame } from './frame';
import type { Calls, CallName, Masked, Picture, Reply, Request } from './messages';
import { openEngine } from './open';

interface Port {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Reply, transfer: Transferable[]): void;
}

const port = self as unknown as Port;
let tracker: Tracker | undefined;

type Handlers = { [K in CallName]: (request: Calls[K]['request']) => Promise<Calls[K]['reply']> };

const handlers: Handlers = {
  async load({ model, accelerator }) {
    const engine = await openEngine(model, accelerator);
    tracker = new Tracker(engine);
    return { engine: engine.name, mostObjects: tracker.mostObjects(), files: engine.loaded };
  },

  async warm({ geometry }) {
    await loaded().warm(geometry);
    return {};
  },

  async propose({ geometry, bitmap, marks, before }) {
    const known = before && unpack(before, geometry.inner.height * geometry.inner.width);
    return masked(await reading([bitmap], ([frame]) => loaded().propose(geometry, frame, marks, known)));
  },

  async obey({ bitmap, plane, others, raster, marks }) {
    return { plane: pack(await reading([bitmap], async ([frame]) => corrected(frame, plane, others, raster, marks))) };
  },

  async begin({ geometry, anchor, previous }) {
    const bitmaps = previous ? [anchor.bitmap, previous.bitmap] : [anchor.bitmap];
    await reading(bitmaps, ([first, second]) =>
      loaded().begin(geometry, drawn(anchor, first), previous && drawn(previous, second)),
    );
    return {};
  },

  async step({ bitmap }) {
    return masked(await reading([bitmap], ([frame]) => loaded().step(frame)));
  },
};

function loaded(): Tracker {
  if (!tracker) throw new Error('The model is not loaded yet.');
  return tracker;
}

/** Work with pictures, which are closed after it. */
async function reading<T>(bitmaps: ImageBitmap[], work: (frames: BitmapFrame[]) => Promise<T>): Promise<T> {
  try {
    return await work(bitmaps.map((bitmap) => new BitmapFrame(bitmap)));
  } finally {
    for (const bitmap of bitmaps) bitmap.close();
  }
}

function drawn({ planes, raster, look }: Picture, frame: BitmapFrame): Drawn {
  return { frame, planes: planes.map((packed) => unpack(packed, raster.height * raster.width)), raster, look };
}

function masked({ planes, ...rest }: Found): Masked {
  return { ...rest, planes: planes.map(pack) };
}

/** A plane of the whole frame, changed where points want it otherwise. */
function corrected(
  frame: BitmapFrame,
  packed: Packed,
  others: readonly Packed[],
  raster: Raster,
  { on, off }: Marks,
): Uint8Array {
  const { height, width, box } = raster;
  const plane = unpack(packed, height * width);
  const before = plane.map((value) => (value > 127 ? 1 : 0));
  const cell = ({ x, y }: Point) => ({
    x: Math.min(width - 1, Math.max(0, Math.floor((x * width) / box.width))),
    y: Math.min(height - 1, Math.max(0, Math.floor((y * height) / box.height))),
  });
  const picture = { data: frame.part({ height, width }, box), height, width };
  const known = others.map((each) => unpack(each, height * width));
  const owners = known.length ? winners(known, height * width) : null;
  const after = obeyed(picture, before, on.map(cell), off.map(cell), owners);
  for (let i = 0; i < plane.length; i++) if (after[i] !== before[i]) plane[i] = after[i] ? 255 : 0;
  return plane;
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
  return 'plane' in result ? [result.plane.buffer] : [];
}

// One request at a time: each builds on the memory that the one before left.
let queue: Promise<void> = Promise.resolve();
port.onmessage = ({ data }) => {
  queue = queue.then(() => answer(data));
};
