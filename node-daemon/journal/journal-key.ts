// Keyed digests of texts. A plain digest of a short text could be reversed by guessing.
import { createHmac, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '#shared/process/sync-folder.ts';

const FILE_NAME = 'journal.key';
const KEY_BYTES = 32;
const DIGEST_BYTES = 16;

/** Makes the keyed digests of one journal. The key is in a file of its own beside the journal. */
export class JournalKey {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Reads the key of a folder, or creates one durably. Rejects if the disk refuses. */
  static async open(folder: string): Promise<JournalKey> {
    const path = join(folder, FILE_NAME);
    const known = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new Error(`cannot read ${path}: ${error.message}`, { cause: error });
    });
    if (known?.length === KEY_BYTES) return new JournalKey(known);
    const key = randomBytes(KEY_BYTES);
    await writeDurably(path, key);
    await syncFolder(folder);
    return new JournalKey(key);
  }

  /** Returns the keyed form of a plain digest. */
  digestOf(plain: string): string {
    const mac = createHmac('sha256', this.#key).update(plain).digest();
    return `k1.${mac.subarray(0, DIGEST_BYTES).toString('base64url')}`;
  }
}

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const partial = `${path}.new`;
  const handle = await open(partial, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, path);
}
