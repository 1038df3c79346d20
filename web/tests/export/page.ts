import { writeCoco } from '../../src/export/coco';
import { writeWebm } from '../../src/export/film';
import { writeMasks } from '../../src/export/pictures';
import { Sink, toMemory } from '../../src/export/sink';
import { writeStill } from '../../src/export/still';
import { plainLook, type Background, type Progress, type TrackedVideo } from '../../src/export/types';
import { madeVideo } from './made';

declare function save(name: string, base64: string): Promise<void>;

const WIDTH = 97; // odd on purpose
const HEIGHT = 64;
const TIMESTAMPS = [0, 1 / 30, 2 / 30, 0.15, 0.2, 0.201, 0.5, 0.9, 0.94, 0.98, 1.02, 3.5];

/** Writes every export; the object tells what else was seen. */
export async function run(): Promise<Record<string, unknown>> {
  const video = madeVideo(WIDTH, HEIGHT, TIMESTAMPS);
  const writing = (sink: Sink) => ({ video, sink, progress: () => {}, signal: new AbortController().signal });
  const backgrounds: Record<string, Background> = {
    transparent: { kind: 'transparent' },
    color: { kind: 'color', color: '#ffffff' },
    blur: { kind: 'blur', radius: 8 },
    image: { kind: 'image', image: halves() },
  };
  for (const [name, background] of Object.entries(backgrounds)) {
    const look = plainLook(background);
    await write(`${name}.webm`, await filled((sink) => writeWebm(writing(sink), look)));
    await write(`${name}.png`, await filled((sink) => writeStill({ video, sink }, 3, look)));
  }
  await write('masks.zip', await filled((sink) => writeMasks(writing(sink))));
  await write('coco.json', await filled((sink) => writeCoco(writing(sink))));
  await write('truth.bin', await truth(video));
  return {
    timestamps: TIMESTAMPS,
    sound: null,
    size: [WIDTH, HEIGHT],
    aborted: await abortedAfterThree(video),
    withoutEncoder: await withoutEncoder(video),
    ticks: await ticksWhileExporting(video),
  };
}

/** What was written into a sink. */
async function filled(work: (sink: Sink) => Promise<void>): Promise<Blob> {
  const sink = new Sink(toMemory());
  await work(sink);
  return (await sink.close())!;
}

function webm(video: TrackedVideo, background: Background, progress: Progress, signal: AbortSignal): Promise<void> {
  return writeWebm({ video, sink: new Sink(toMemory()), progress, signal }, plainLook(background));
}

/** RGB and matte of every frame, one after the other. */
async function truth(video: TrackedVideo): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (let i = 0; i < video.timestamps.length; i++) {
    const canvas = (await video.frame(i)) as OffscreenCanvas;
    const pixels = canvas.getContext('2d')!.getImageData(0, 0, video.width, video.height).data;
    (await video.alpha(i)).forEach((alpha, p) => (pixels[4 * p + 3] = alpha));
    parts.push(pixels);
  }
  return new Blob(parts);
}

/** Twice as wide as the video: left half black, right half yellow. */
function halves(): OffscreenCanvas {
  const canvas = new OffscreenCanvas(4 * WIDTH, 2 * HEIGHT);
  const context = canvas.getContext('2d')!;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = 'rgb(255, 255, 0)';
  context.fillRect(canvas.width / 2, 0, canvas.width / 2, canvas.height);
  return canvas;
}

async function abortedAfterThree(video: TrackedVideo): Promise<unknown> {
  const stop = new AbortController();
  const seen: number[] = [];
  const progress = (done: number): void => {
    seen.push(done);
    if (done === 3) stop.abort();
  };
  const error = await webm(video, { kind: 'transparent' }, progress, stop.signal).catch((e: Error) => e.name);
  return { error, seen };
}

async function withoutEncoder(video: TrackedVideo): Promise<unknown> {
  const encoder = globalThis.VideoEncoder;
  Object.assign(globalThis, { VideoEncoder: undefined });
  const error = await webm(video, { kind: 'transparent' }, () => {}, new AbortController().signal).catch(
    (e: Error) => e.message,
  );
  Object.assign(globalThis, { VideoEncoder: encoder });
  return error;
}

/** How many of the export's frames the page could do something before. */
async function ticksWhileExporting(video: TrackedVideo): Promise<number> {
  let turns = 0;
  let going = true;
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    turns++;
    if (going) channel.port2.postMessage(null);
  };
  channel.port2.postMessage(null);
  const seen = new Set<number>();
  await webm(video, { kind: 'color', color: '#fff' }, () => seen.add(turns), new AbortController().signal);
  going = false;
  return seen.size;
}

async function write(name: string, blob: Blob): Promise<void> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  await save(name, btoa(binary));
}
