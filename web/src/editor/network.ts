/** The network behind the page: loads it, chooses its working size, hands it pictures. */
import { EngineClient } from '../engine/client';
import type { Masked } from '../engine/messages';
import type { Geometry, Raster } from '../tracking/geometry';
import type { Marks } from '../tracking/marks';
import type { Packed } from '../tracking/planes';
import type { LookAhead } from '../tracking/window';
import type { VideoSource } from '../video/source';

/** Short sides the network can work at, the finest first. */
export const SIZES = [480, 384, 320, 288] as const;
/** The one to begin with: what the network was trained at, and follows best at. */
export const USUAL_SIZE = 320;

/** A frame whose masks are known. */
export interface Known {
  index: number;
  planes: Packed[];
  /** Of the planes. */
  raster: Raster;
  /** Where to look from it on, if it was followed to; null where something was drawn. */
  look: LookAhead | null;
}

export class Network {
  engine = '';
  /** What the engine was loaded from, to be kept for offline use. */
  files: string[] = [];
  mostObjects = 0;
  private ready: Promise<void> | undefined;
  private readonly client = new EngineClient(() => (this.ready = undefined));

  constructor(private accelerator: 'auto' | 'wasm') {}

  /** Loads once; again after a failure. */
  load(): Promise<void> {
    this.ready ??= this.client
      .call('load', { model: new URL('model/', document.baseURI).href, accelerator: this.accelerator })
      .then(({ engine, mostObjects, files }) => {
        this.engine = engine;
        this.files = files;
        this.mostObjects = mostObjects;
      })
      .catch((error: unknown) => this.broken(error));
    return this.ready;
  }

  /** Get ready for marks at this size. */
  async warm(geometry: Geometry): Promise<void> {
    await this.attempt(() => this.client.call('warm', { geometry }));
  }

  /** The mask of one object; `before`, its mask so far, has the geometry's inner size. */
  async propose(
    source: VideoSource,
    index: number,
    geometry: Geometry,
    marks: Marks,
    before: Packed | null,
  ): Promise<Masked> {
    return this.attempt(async () => {
      const bitmap = await copied(source, index);
      return this.client.call('propose', { geometry, bitmap, marks, before }, [bitmap]);
    });
  }

  /** A mask that obeys the points of the marks, and those of the other objects; planes show the whole frame. */
  async obey(
    source: VideoSource,
    index: number,
    plane: Packed,
    others: Packed[],
    raster: Raster,
    marks: Marks,
  ): Promise<Packed> {
    await this.load();
    const bitmap = await copied(source, index);
    return (await this.client.call('obey', { bitmap, plane, others, raster, marks }, [bitmap])).plane;
  }

  /** Follow objects from a frame with given masks, or from another frame on, with `previous` masks there. */
  async begin(source: VideoSource, geometry: Geometry, anchor: Known, previous: Known | null): Promise<void> {
    const picture = async ({ index, ...known }: Known) => ({ bitmap: await copied(source, index), ...known });
    await this.attempt(async () => {
      const first = await picture(anchor);
      const second = previous && (await picture(previous));
      const handed = second ? [first.bitmap, second.bitmap] : [first.bitmap];
      return this.client.call('begin', { geometry, anchor: first, previous: second }, handed);
    });
  }

  /** The objects in the next frame. */
  step(bitmap: ImageBitmap): Promise<Masked> {
    return this.client.call('step', { bitmap }, [bitmap]).catch((error) => this.broken(error));
  }

  /** Calls the worker when it is loaded; where a graphics processor fails, once more without it. */
  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    await this.load();
    const { accelerator } = this;
    try {
      return await work().catch((error) => this.broken(error));
    } catch (error) {
      if (this.accelerator === accelerator) throw error;
    }
    await this.load();
    return work().catch((error) => this.broken(error));
  }

  /**
   * After a failure the worker may be in any state: the next call starts another. Drivers fail in ways of their own, so
   * it does without the graphics processor.
   */
  private broken(error: unknown): never {
    this.client.stop();
    if (this.engine === 'WebGPU') this.accelerator = 'wasm';
    throw error;
  }
}

/** A frame to hand to the worker, which cuts out what it looks at. */
export async function copied(source: VideoSource, index: number): Promise<ImageBitmap> {
  return createImageBitmap(await source.frame(index));
}
