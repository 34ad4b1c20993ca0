// Backups encrypted with age (age-encryption.org): with a passphrase, or for recipients. The tools of age can open them too.
import { open } from 'node:fs/promises';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ReadableStream } from 'node:stream/web';
import {
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption';
import { OperatorRefusal } from '../domain/refusal.ts';
import { BackupError } from './backup-format.ts';

/** The passphrase, or the public keys, that a backup is encrypted with. */
export type Lock = { passphrase: string } | { recipients: readonly string[] };

/** The passphrase, or the private keys, that open it. */
export type BackupKey = { passphrase: string } | { identities: readonly string[] };

/** Writes a backup, and ends `out`. */
export type WriteBackup = (out: Writable) => Promise<void>;

/** Enough for hundreds of recipients. */
const HEADER_BYTES_MAX = 64 * 1024;
const MAGIC = 'age-encryption.org/v1\n';
const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----';
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/**
 * `write`, encrypted. `key` opens the result, so that it can be read again: with recipients, that is one more recipient whose identity only
 * this process has. Throws `OperatorRefusal` for a recipient that age does not know.
 */
export async function encrypted(
  lock: Lock,
  write: WriteBackup,
): Promise<{ write: WriteBackup; key: BackupKey }> {
  const encrypter = new Encrypter();
  const key = 'passphrase' in lock ? lock : { identities: [await ownIdentity(lock.recipients)] };
  if ('passphrase' in lock) encrypter.setPassphrase(lock.passphrase);
  else
    for (const [position, recipient] of lock.recipients.entries())
      addRecipient(encrypter, recipient, position);
  if ('identities' in key) encrypter.addRecipient(await identityToRecipient(String(key.identities[0])));
  return {
    key,
    async write(out) {
      const plain = new PassThrough();
      // Before the database is read: deriving a key from a passphrase takes a second.
      const cipher = await encrypter.encrypt(ReadableStream.from(plain) as ReadableStream<Uint8Array>);
      let failure: unknown;
      out.once('error', (error) => (failure = error));
      const written = pipeline(
        Readable.from(cipher as AsyncIterable<Uint8Array>, { objectMode: false }),
        out,
      );
      // A failure is reported where `written` is awaited; until then it must not end the process.
      written.catch(() => undefined);
      try {
        await write(plain);
        await written;
      } catch (error) {
        plain.destroy(error instanceof Error ? error : undefined);
        throw failure ?? error;
      }
    },
  };
}

/** A hybrid recipient works only if all others are hybrid too. */
const ownIdentity = (recipients: readonly string[]): Promise<string> =>
  recipients.every((recipient) => /^age1(pq|tagpq)1/.test(recipient))
    ? generateHybridIdentity()
    : generateX25519Identity();

/** The recipient is not shown: it may be an identity that was given by mistake. */
function addRecipient(encrypter: Encrypter, recipient: string, position: number): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    throw new OperatorRefusal(`Recipient ${position + 1} is not an age public key (age1…).`, { cause });
  }
}

/**
 * The bytes of a backup, decrypted if it is encrypted. Throws `BackupError` if the key does not fit, or if the file turns out to be
 * damaged.
 */
export async function* openedBytes(
  source: AsyncIterable<Buffer>,
  path: string,
  key: BackupKey | undefined,
): AsyncGenerator<Uint8Array> {
  const header = await headerOf(path);
  if (header === undefined) {
    if (key !== undefined)
      throw new BackupError('it is not encrypted: leave out the passphrase or the identity');
    yield* source;
    return;
  }
  if (key === undefined)
    throw new BackupError(
      `it is encrypted: give --${isForPassphrase(header) ? 'passphrase' : 'identity'}-file`,
    );
  try {
    yield* await decrypted(source, header, key);
  } catch (error) {
    if (error instanceof BackupError || (error as NodeJS.ErrnoException).code !== undefined) throw error;
    throw new BackupError('it is damaged or incomplete: it cannot be decrypted to its end', {
      cause: error,
    });
  }
}

async function decrypted(
  source: AsyncIterable<Buffer>,
  header: string,
  key: BackupKey,
): Promise<AsyncIterable<Uint8Array>> {
  if ('passphrase' in key !== isForPassphrase(header))
    throw new BackupError(
      isForPassphrase(header)
        ? 'it is encrypted with a passphrase: give --passphrase-file'
        : 'it is encrypted for a recipient: give --identity-file',
    );
  const fileKey = await fileKeyOf(header, key);
  const decrypter = new Decrypter();
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  return decrypter.decrypt(ReadableStream.from(source) as ReadableStream<Uint8Array>);
}

/** By the key that opened it. A restore reads a backup twice, and deriving a key from a passphrase takes seconds. */
const fileKeys = new WeakMap<BackupKey, { header: string; fileKey: Uint8Array }>();

async function fileKeyOf(header: string, key: BackupKey): Promise<Uint8Array> {
  const known = fileKeys.get(key);
  if (known?.header === header) return known.fileKey;
  const decrypter = new Decrypter();
  if ('passphrase' in key) decrypter.addPassphrase(key.passphrase);
  else for (const identity of key.identities) decrypter.addIdentity(identity);
  try {
    const fileKey = await decrypter.decryptHeader(Buffer.from(header, 'latin1'));
    fileKeys.set(key, { header, fileKey });
    return fileKey;
  } catch (cause) {
    // The library's error for a key that fits no stanza; other errors are about the file.
    if (!/no identity matched/.test(String((cause as Error).message))) throw cause;
    throw new BackupError(
      'passphrase' in key ? 'the passphrase is wrong' : 'none of the identities can decrypt it',
      { cause },
    );
  }
}

/** Whether a passphrase opens the file. Throws the errors of a reader. */
export async function needsPassphrase(path: string): Promise<boolean> {
  const header = await headerOf(path);
  return header !== undefined && isForPassphrase(header);
}

const isForPassphrase = (header: string): boolean => header.includes('\n-> scrypt ');

/** The header of an age file; undefined if the file is not encrypted. */
async function headerOf(path: string): Promise<string | undefined> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES_MAX), 0, HEADER_BYTES_MAX, 0);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.subarray(0, 2).equals(GZIP_MAGIC)) return undefined;
    const text = bytes.toString('latin1');
    if (text.startsWith(ARMOR))
      throw new BackupError('it is in ASCII armor: decrypt it with "age --decrypt", and restore the output');
    if (!text.startsWith(MAGIC)) return undefined;
    // Its last line authenticates it. The library would read a line without an end for ever.
    const end = text.indexOf('\n', text.indexOf('\n--- ') + 1);
    if (!text.includes('\n--- ') || end < 0)
      throw new BackupError('it ends too early, or its beginning is damaged');
    return text.slice(0, end + 1);
  } finally {
    await handle.close();
  }
}
