// A disk that shows what a kill or a power cut would leave of a journal at any moment.
import { type OpenJournalDisk, openJournalDisk } from '#node-daemon/journal/journal-disk.ts';

const PAGE_BYTES = 4096;

interface Write {
  readonly bytes: Buffer;
  readonly position: number;
}

/** The last opened file of a journal, as the system sees it and as the disk has it. */
export class RecordedDisk {
  /** Called at every step of a write or a sync. */
  onStep: () => void = () => undefined;
  #contents: Buffer = Buffer.alloc(0);
  #durable: Buffer = Buffer.alloc(0);
  /** Written and not durable. */
  #pending: Write[] = [];
  /** The write that is under way. */
  #torn: Write | undefined;

  readonly open: OpenJournalDisk = async (path) => {
    const file = await openJournalDisk(path);
    return {
      write: async (bytes, position) => {
        const write = { bytes: Buffer.from(bytes), position };
        this.#torn = write;
        this.onStep();
        await file.write(bytes, position);
        this.#torn = undefined;
        this.#contents = patched(this.#contents, write);
        this.#pending.push(write);
        this.onStep();
      },
      sync: async () => {
        const { length } = this.#pending;
        const contents = this.#contents;
        this.onStep();
        await file.sync();
        this.#durable = contents;
        this.#pending = this.#pending.slice(length);
        this.onStep();
      },
      truncate: async (length) => {
        await file.truncate(length);
        this.#contents = this.#contents.subarray(0, length);
        this.#durable = this.#contents;
        this.#pending = [];
      },
      isAt: (at) => file.isAt(at),
      close: () => file.close(),
    };
  };

  /** The contents after a kill: all that is written, and the part of the current write that the system took so far. */
  killed(random: (below: number) => number): Buffer {
    if (this.#torn === undefined) return this.#contents;
    const { bytes, position } = this.#torn;
    return patched(this.#contents, { bytes: bytes.subarray(0, random(bytes.length + 1)), position });
  }

  /** The contents after a power cut: all that is durable, and any pages of the rest. */
  powerless(random: (below: number) => number): Buffer {
    let left = this.#durable;
    for (const { bytes, position } of [...this.#pending, ...(this.#torn === undefined ? [] : [this.#torn])]) {
      for (let offset = 0; offset < bytes.length; ) {
        const end = Math.min(bytes.length, offset + PAGE_BYTES - ((position + offset) % PAGE_BYTES));
        if (random(2) === 0)
          left = patched(left, { bytes: bytes.subarray(offset, end), position: position + offset });
        offset = end;
      }
    }
    return left;
  }
}

function patched(contents: Buffer, { bytes, position }: Write): Buffer {
  const patchedContents = Buffer.alloc(Math.max(contents.length, position + bytes.length));
  contents.copy(patchedContents);
  bytes.copy(patchedContents, position);
  return patchedContents;
}
