/** How near to a keystroke an answer about a change does not count, in ms: it may have been meant for something else. */
const hasty = 300;
/** How long nothing must have been typed before a change is shown, in ms. */
const pause = 1000;

/** The schemes of documents in which nobody types: quarry's own pages and changes, and logs. They grow by themselves. */
const untyped = new Set(['quarry', 'quarry-change', 'output']);

/** Whether a change of a document of a scheme may have been typed. */
export function mayBeTyped(scheme: string): boolean {
  return !untyped.has(scheme);
}

/** Knows when the user last typed. */
export class Typing {
  private last = -Infinity;
  private readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  note(): void {
    this.last = this.now();
  }

  /** Whether an answer given now counts. */
  calm(): boolean {
    return this.now() - this.last >= hasty;
  }

  /** How long it is still to be waited before a change may be shown, in ms. */
  toWait(): number {
    return Math.max(0, pause - (this.now() - this.last));
  }
}
