/** The worker that makes pictures and writes files, so that the page never waits for them. */
import { openDecoded } from '../video/decoded';
import { Composer } from './compose';
import { matte, scaledEdges } from './edges';
import type { FromWorker, Job, Part, Place, Preview, ToWorker } from './messages';
import { Sink, toFile, toMemory, toStorage, type Destination } from './sink';
import { storageFolder } from './storage';
import { labelsOf, trackedVideo, type Pictures } from './tracked';
import { scaledLook } from './types';
import { write } from './write';

interface Port {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
}

/** Frames of the source that are held: the one that is read, and the next. */
const HELD = 2;

const port = self as unknown as Port;
const stop = new AbortController();
const waiting = new Map<number, (part: Part) => void>();

port.onmessage = ({ data }) => {
  if (data.say === 'part') waiting.get(data.part.index)?.(data.part);
  else if (data.say === 'cancel') stop.abort();
  else if (data.say === 'preview') preview(data.preview);
  else if (data.say === 'keep') void finished(data.place, (sink) => copied(data.parts, sink));
  else void finished(data.job.place, (sink) => exported(data.job, sink));
};

/** Work that fills a file; where it fails, nothing is left behind. */
async function finished(place: Place, work: (sink: Sink) => Promise<void>): Promise<void> {
  let sink: Sink | undefined;
  try {
    sink = new Sink(await destination(place));
    await work(sink);
    const file = await sink.close();
    port.postMessage({ say: 'done', bytes: sink.size, file });
  } catch (error) {
    await sink?.discard();
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ say: 'failed', message, aborted: stop.signal.aborted });
  }
}

async function destination(place: Place): Promise<Destination> {
  if ('handle' in place) return toFile(place.handle);
  try {
    return await toStorage(await storageFolder(place.folder), place.name);
  } catch {
    return toMemory(); // private windows may have no storage
  }
}

async function exported(job: Job, sink: Sink): Promise<void> {
  const parts = new Parts(job);
  const source = job.video.pageOnly ? null : await openDecoded(job.video.file, job.video.name, HELD);
  const pictures: Pictures = source ?? { ...job.video, sound: null, frame: (index) => parts.picture(index) };
  parts.pictures = source === null;
  const masksOf = async (index: number) => (await parts.get(index)).masks;
  const video = trackedVideo(pictures, masksOf, job.range, job.edges, job.names);
  const progress = (done: number, total: number) =>
    port.postMessage({ say: 'progress', done, total, bytes: sink.size });
  try {
    await write(job.format, { video, sink, progress, signal: stop.signal }, job.look);
  } finally {
    source?.close();
  }
}

/** Frames of the page, the next one asked for while one is worked on. */
class Parts {
  pictures = false;
  private readonly asked = new Map<number, Promise<Part>>();

  constructor(private readonly job: Job) {}

  async get(index: number): Promise<Part> {
    const part = this.ask(index);
    if (index < this.job.range.last) void this.ask(index + 1);
    for (const old of [...this.asked.keys()].filter((at) => at < index)) {
      void this.asked.get(old)!.then(({ picture }) => picture?.close());
      this.asked.delete(old);
    }
    return part;
  }

  async picture(index: number): Promise<ImageBitmap> {
    const { picture } = await this.get(index);
    if (!picture) throw new Error(`Frame ${index + 1} cannot be read.`);
    return picture;
  }

  private ask(index: number): Promise<Part> {
    const known = this.asked.get(index);
    if (known) return known;
    const part = new Promise<Part>((resolve) => waiting.set(index, resolve));
    this.asked.set(index, part);
    port.postMessage({ say: 'need', index, picture: this.pictures });
    return part;
  }
}

async function copied(parts: Blob[], sink: Sink): Promise<void> {
  for (const part of parts) await sink.pipe(part.stream());
}

/** The same steps as an export's, on a smaller picture. */
function preview({ number, picture, masks, frame, look, edges }: Preview): void {
  try {
    const size = { width: picture.width, height: picture.height };
    const scale = size.width / frame.width;
    const smaller = scaledEdges(edges, scale);
    const alpha = matte(labelsOf(masks, frame, size, smaller), size, smaller.feather);
    const made = new Composer(size, scaledLook(look, scale)).picture(picture, alpha).transferToImageBitmap();
    port.postMessage({ say: 'preview', number, picture: made }, [made]);
  } catch (error) {
    console.warn(error);
    port.postMessage({ say: 'preview', number, picture: null });
  } finally {
    picture.close();
  }
}
