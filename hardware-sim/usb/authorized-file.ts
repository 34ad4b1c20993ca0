// The `authorized` file of a device, and a watch for writes to it.
import { type FSWatcher, readFileSync, statSync, watch } from 'node:fs';

/** Watches one file. `check` is also called now and then, for what a notice may have missed. */
export class AuthorizedFile {
  readonly #path: string;
  readonly #onWritten: (isAuthorized: boolean) => void;
  readonly #watcher: FSWatcher | undefined;
  #seen: string;

  /** The file must exist, and only other programs write to it. */
  constructor(path: string, onWritten: (isAuthorized: boolean) => void) {
    this.#path = path;
    this.#onWritten = onWritten;
    this.#seen = this.#stamp(contentOf(path));
    this.#watcher = watched(path, () => this.check());
  }

  /** Reads the file if it was written since. An empty one is in the middle of a write: its end comes. */
  check(): void {
    const text = contentOf(this.#path);
    if (text !== '0' && text !== '1') return;
    const stamp = this.#stamp(text);
    if (stamp === this.#seen) return;
    this.#seen = stamp;
    this.#onWritten(text === '1');
  }

  close(): void {
    this.#watcher?.close();
  }

  /** With the text: file systems count time in ticks of some milliseconds, and two writes fit into one. */
  #stamp(text: string): string {
    const stat = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return `${text} ${stat?.ino} ${stat?.mtimeNs}`;
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return '';
  }
}

/** Without a watcher (the system limits their number) only the slow check remains. */
function watched(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, onChange).on('error', () => undefined);
  } catch {
    return undefined;
  }
}
