/** Plays the sound of a video beside its pictures. */
import type { SoundSource } from './source';

/** Seconds of sound that are handed to the device ahead of time: a busy page is not heard. */
const AHEAD = 1;

export class Speaker {
  private context: AudioContext | undefined;
  private volume: GainNode | undefined;
  private silent = false;

  get muted(): boolean {
    return this.silent;
  }

  set muted(muted: boolean) {
    this.silent = muted;
    if (this.volume) this.volume.gain.value = muted ? 0 : 1;
  }

  /**
   * Play what is heard between two times of the video, until `signal`. Tells how many seconds pass before it is heard,
   * by which pictures are to wait; 0 where nothing is heard, which is no reason to stop the pictures. To be called while
   * a person presses something, or browsers keep quiet.
   */
  async play(sound: SoundSource, from: number, to: number, signal: AbortSignal): Promise<number> {
    const out = await this.open();
    if (!out || signal.aborted) return 0;
    const { context, volume } = out;
    // Each run has its own way out, cut at once when it ends, with all that was handed over.
    const run = new GainNode(context);
    run.connect(volume);
    signal.addEventListener('abort', () => run.disconnect(), { once: true });
    const begin = context.currentTime + 0.05;
    void this.feed(sound, from, to, begin, run, signal).catch(() => undefined); // pictures go on without it
    return begin - context.currentTime + (context.outputLatency || 0);
  }

  close(): void {
    void this.context?.close();
    this.context = this.volume = undefined;
  }

  private async open(): Promise<{ context: AudioContext; volume: GainNode } | null> {
    try {
      this.context ??= new AudioContext();
      if (!this.volume) {
        this.volume = new GainNode(this.context, { gain: this.silent ? 0 : 1 });
        this.volume.connect(this.context.destination);
      }
      // Where the browser wants to be asked first, it never answers.
      if (this.context.state !== 'running') await Promise.race([this.context.resume(), wait(0.5)]);
      return this.context.state === 'running' ? { context: this.context, volume: this.volume } : null;
    } catch {
      return null; // no device to be heard on
    }
  }

  /** Sound of the time `from` is heard at `begin` of the device's clock, and all else after it. */
  private async feed(
    sound: SoundSource,
    from: number,
    to: number,
    begin: number,
    run: GainNode,
    signal: AbortSignal,
  ): Promise<void> {
    const { context } = run;
    for await (const sample of sound.samples(from, to)) {
      const { timestamp, duration } = sample;
      const buffer = signal.aborted ? null : sample.toAudioBuffer();
      sample.close();
      if (!buffer) return;
      const node = new AudioBufferSourceNode(context, { buffer });
      node.connect(run);
      const at = begin + timestamp - from;
      const late = Math.max(0, from - timestamp, context.currentTime - at); // its beginning is left out
      if (late < duration) node.start(at + late, late, Math.max(0, to - timestamp - late));
      while (!signal.aborted && begin + timestamp - from > context.currentTime + AHEAD) await wait(AHEAD / 4);
    }
  }
}

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
}
