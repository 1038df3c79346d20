/** The camera's screen: look, turn it round, count down, record. */
import { Camera, MOST_MINUTES, type Facing } from '../video/camera';
import { h, iconButton } from './dom';
import { ICONS } from './icons';

/** Seconds from the button to the recording. */
const COUNT = 3;

export class CameraScreen {
  readonly element: HTMLDialogElement;
  private readonly picture = h('div', { class: 'finder' });
  private readonly count = h('p', { class: 'count', role: 'status' });
  private readonly record: HTMLButtonElement;
  private readonly flip: HTMLButtonElement;
  private camera: Camera | null = null;
  private began = 0;
  private timer = 0;

  constructor(
    private readonly recorded: (file: File) => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.record = h('button', {
      type: 'button',
      class: 'shutter',
      'aria-label': 'Record',
      on: { click: () => void this.press() },
    });
    this.flip = iconButton(ICONS.flip, 'Other camera', '', () => void this.turn(), 'icon round');
    this.element = h(
      'dialog',
      { class: 'camera', 'aria-label': 'Camera' },
      this.picture,
      this.count,
      h(
        'footer',
        {},
        iconButton(ICONS.close, 'Close the camera', 'Escape', () => this.element.close(), 'icon round'),
        this.record,
        this.flip,
      ),
    );
    this.element.addEventListener('close', () => this.stop());
    document.addEventListener('visibilitychange', () => {
      if (document.hidden && this.camera?.recording) void this.finish(); // a hidden page is shown nothing new
    });
  }

  /** Whether it could be opened. */
  async open(facing: Facing = 'environment'): Promise<void> {
    try {
      this.look(await Camera.open(facing));
    } catch (error) {
      this.failed(error);
    }
  }

  private look(camera: Camera): void {
    this.camera = camera;
    camera.preview.classList.toggle('mirrored', camera.facing === 'user');
    this.picture.replaceChildren(camera.preview);
    this.say('', false);
    if (!this.element.open) this.element.showModal();
    this.record.focus();
  }

  private async turn(): Promise<void> {
    const facing = this.camera?.facing === 'user' ? 'environment' : 'user';
    this.camera?.close();
    await this.open(facing);
  }

  private async press(): Promise<void> {
    const { camera } = this;
    if (!camera) return;
    if (camera.recording) return this.finish();
    if (this.timer) return this.stopCounting('');
    for (let left = COUNT; left > 0; left--) {
      this.say(String(left), true);
      const going = await new Promise<boolean>((resolve) => {
        this.timer = window.setTimeout(() => resolve(this.camera === camera && this.timer !== 0), 1000);
      });
      if (!going) return;
    }
    this.timer = 0;
    camera.start();
    this.began = performance.now();
    this.tick(camera);
  }

  private tick(camera: Camera): void {
    if (this.camera !== camera || !camera.recording) return;
    const seconds = Math.floor((performance.now() - this.began) / 1000);
    if (seconds >= 60 * MOST_MINUTES) return void this.finish();
    this.say(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`, true);
    setTimeout(() => this.tick(camera), 250);
  }

  private async finish(): Promise<void> {
    const { camera } = this;
    if (!camera) return;
    try {
      const file = await camera.finish();
      this.element.close();
      this.recorded(file);
    } catch (error) {
      this.failed(error);
    }
  }

  private say(text: string, busy: boolean): void {
    const recording = this.camera?.recording ?? false;
    this.count.textContent = text;
    this.count.classList.toggle('counting', busy && !recording);
    this.record.setAttribute('aria-label', recording ? 'Stop recording' : busy ? 'Stop the countdown' : 'Record');
    this.record.classList.toggle('recording', recording);
    this.flip.disabled = busy;
  }

  private stopCounting(text: string): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.say(text, false);
  }

  private stop(): void {
    this.stopCounting('');
    this.camera?.close();
    this.camera = null;
    this.picture.replaceChildren();
  }
}
