/** The camera: looked through, then recorded at its full rate. */
import { VideoError } from './source';

/** Minutes after which a recording ends, so that nothing fills up by accident. */
export const MOST_MINUTES = 10;

const TYPES = [
  'video/mp4;codecs=avc1.640028,mp4a.40.2',
  'video/mp4',
  'video/webm;codecs=vp9,opus',
  'video/webm;codecs=vp8,opus',
  'video/webm',
];

export type Facing = 'user' | 'environment';

export class Camera {
  private recorder: MediaRecorder | undefined;
  private parts: Blob[] = [];

  private constructor(
    readonly facing: Facing,
    readonly preview: HTMLVideoElement,
    private readonly stream: MediaStream,
  ) {}

  static async open(facing: Facing): Promise<Camera> {
    if (!navigator.mediaDevices?.getUserMedia || typeof MediaRecorder === 'undefined') {
      throw new VideoError('This browser gives pages no camera here. Open the page over https or on this computer.');
    }
    const video = { facingMode: facing, width: { ideal: 1920 }, height: { ideal: 1080 }, frameRate: { ideal: 30 } };
    // Without a microphone, or leave to use it, the pictures are worth having.
    const stream = await navigator.mediaDevices.getUserMedia({ video, audio: true }).catch(() =>
      navigator.mediaDevices.getUserMedia({ video, audio: false }).catch((error: unknown) => {
        throw new VideoError(reason(error));
      }),
    );
    const preview = document.createElement('video');
    preview.muted = true;
    preview.playsInline = true;
    preview.srcObject = stream;
    await preview.play();
    return new Camera(facing, preview, stream);
  }

  get recording(): boolean {
    return this.recorder?.state === 'recording';
  }

  start(): void {
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    this.parts = [];
    this.recorder = new MediaRecorder(this.stream, { ...(mimeType && { mimeType }), videoBitsPerSecond: 12e6 });
    this.recorder.ondataavailable = ({ data }) => this.parts.push(data);
    this.recorder.start(1000); // in parts of a second: nothing is lost where the page dies later
  }

  /** What was recorded, as a file. */
  async finish(): Promise<File> {
    const recorder = this.recorder!;
    if (recorder.state !== 'inactive') {
      await new Promise<void>((resolve) => {
        recorder.onstop = () => resolve();
        recorder.stop();
      });
    }
    const type = recorder.mimeType.split(';')[0] || 'video/webm';
    const time = new Date().toISOString().slice(0, 19).replace(/[T:]/g, '-');
    return new File(this.parts, `Camera-${time}.${type.endsWith('mp4') ? 'mp4' : 'webm'}`, { type });
  }

  close(): void {
    if (this.recording) this.recorder!.stop();
    for (const track of this.stream.getTracks()) track.stop();
    this.preview.srcObject = null;
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
