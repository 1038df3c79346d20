/** The camera: a video that grows while it is watched. */
import { FrameCache } from './cache';
import { overview } from './overview';
import { VideoError, type VideoSource } from './source';

/** After so many frames recording ends, so that memory stays bounded. */
export const MOST_FRAMES = 1800;

export class CameraVideo implements VideoSource {
  readonly name = 'Camera';
  width = 0;
  height = 0;
  readonly timestamps: number[] = [];
  readonly durations: number[] = [];
  readonly sound = null;
  private readonly pictures: Blob[] = [];
  private cache!: FrameCache;
  private canvas!: OffscreenCanvasRenderingContext2D;
  private started = 0;

  private constructor(
    readonly preview: HTMLVideoElement,
    private readonly stream: MediaStream,
  ) {
    this.turned();
  }

  /** Whether the picture has another size than before, because the phone was turned; once recorded, it stays. */
  turned(): boolean {
    const { videoWidth, videoHeight } = this.preview;
    if (this.timestamps.length || (videoWidth === this.width && videoHeight === this.height)) return false;
    [this.width, this.height] = [videoWidth, videoHeight];
    this.cache = new FrameCache(videoWidth, videoHeight);
    this.canvas = new OffscreenCanvas(videoWidth, videoHeight).getContext('2d')!;
    return true;
  }

  static async open(facing: 'user' | 'environment'): Promise<CameraVideo> {
    if (!navigator.mediaDevices?.getUserMedia) {
      throw new VideoError('This browser gives pages no camera here. Open the page over https or on this computer.');
    }
    let stream: MediaStream;
    try {
      const video = { facingMode: facing, width: { ideal: 1280 }, height: { ideal: 720 } };
      stream = await navigator.mediaDevices.getUserMedia({ video, audio: false });
    } catch (error) {
      throw new VideoError(reason(error));
    }
    const preview = document.createElement('video');
    preview.muted = true;
    preview.playsInline = true;
    preview.srcObject = stream;
    await preview.play();
    return new CameraVideo(preview, stream);
  }

  /** Keep what the camera sees now; its number. */
  async grab(): Promise<number> {
    const now = performance.now() / 1000;
    if (!this.timestamps.length) this.started = now;
    this.drawPreview();
    const index = this.timestamps.length;
    const time = now - this.started;
    if (index) this.durations[index - 1] = time - this.timestamps[index - 1];
    this.timestamps.push(time);
    this.durations.push(this.durations.at(-1) ?? 1 / 30);
    this.cache.put(index, await createImageBitmap(this.canvas.canvas));
    this.pictures.push(await this.canvas.canvas.convertToBlob({ type: 'image/jpeg', quality: 0.92 }));
    return index;
  }

  /** As large as it fits, in the middle: a phone may be turned while it records. */
  private drawPreview(): void {
    const { videoWidth, videoHeight } = this.preview;
    const scale = Math.min(this.width / videoWidth, this.height / videoHeight);
    const [w, h] = [videoWidth * scale, videoHeight * scale];
    this.canvas.fillRect(0, 0, this.width, this.height);
    this.canvas.drawImage(this.preview, (this.width - w) / 2, (this.height - h) / 2, w, h);
  }

  async frame(index: number): Promise<ImageBitmap> {
    const kept = this.cache.get(index);
    if (kept) return kept;
    const bitmap = await createImageBitmap(this.pictures[index]);
    this.cache.put(index, bitmap);
    return bitmap;
  }

  /** Drop what was recorded. */
  clear(): void {
    this.timestamps.length = this.durations.length = this.pictures.length = 0;
    this.cache.clear();
  }

  /** Switch the camera off; what was recorded stays. */
  stop(): void {
    for (const track of this.stream.getTracks()) track.stop();
  }

  overview(count: number, height: number): AsyncGenerator<ImageBitmap> {
    return overview(this, count, height);
  }

  close(): void {
    this.stop();
    this.cache.clear();
  }
}

function reason(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') {
    return 'The camera is blocked. Allow it for this page in the browser’s settings (the lock or camera sign beside the address), then try again.';
  }
  if (name === 'NotFoundError' || name === 'OverconstrainedError') return 'No camera was found on this device.';
  if (name === 'NotReadableError') return 'Another program is using the camera. Close it, then try again.';
  return `The camera cannot be opened (${error instanceof Error ? error.message : String(error)}).`;
}
