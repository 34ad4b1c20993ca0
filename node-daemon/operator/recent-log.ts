// The last lines of the daemon's own log, for clients that come late and for followers.

const LINES_MAX = 1000;
/** A follower that takes nothing loses lines; the log does not wait for it. */
const BEHIND_MAX = 10_000;

/** A ring of lines; each is JSON. */
export class RecentLog {
  readonly #lines: string[] = [];
  readonly #followers = new Set<(line: string) => void>();

  /** Takes lines that the log has written: whole lines. */
  readonly take = (text: string): void => {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      this.#lines.push(line);
      if (this.#lines.length > LINES_MAX) this.#lines.shift();
      for (const follower of this.#followers) follower(line);
    }
  };

  /** The lines so far, then, where it is followed, those that come, until the signal. */
  async *lines(signal: AbortSignal, isFollowed: boolean): AsyncGenerator<string> {
    const waiting = [...this.#lines];
    let wakeUp = (): void => undefined;
    const follow = (line: string): void => {
      if (waiting.length < BEHIND_MAX) waiting.push(line);
      wakeUp();
    };
    if (isFollowed) this.#followers.add(follow);
    const onAbort = (): void => wakeUp();
    signal.addEventListener('abort', onAbort);
    try {
      while (!signal.aborted) {
        if (waiting.length > 0) yield* waiting.splice(0);
        else if (isFollowed) await new Promise<void>((resolve) => (wakeUp = resolve));
        else return;
      }
    } finally {
      this.#followers.delete(follow);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
