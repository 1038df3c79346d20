/** Undo and redo over whole states, which share all that has not changed. */
export class History<T> {
  private readonly past: T[] = [];
  private future: T[] = [];

  constructor(
    private now: T,
    private readonly changed: () => void,
    private readonly most = 200,
  ) {}

  get current(): T {
    return this.now;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** A new state that undo takes back. */
  commit(state: T): void {
    this.past.push(this.now);
    if (this.past.length > this.most) this.past.shift();
    this.future = [];
    this.replace(state);
  }

  /** A new state in place of the current one: the next frames of a track belong to its beginning. */
  replace(state: T): void {
    this.now = state;
    this.changed();
  }

  undo(): void {
    const before = this.past.pop();
    if (before === undefined) return;
    this.future.push(this.now);
    this.replace(before);
  }

  redo(): void {
    const after = this.future.pop();
    if (after === undefined) return;
    this.past.push(this.now);
    this.replace(after);
  }
}
