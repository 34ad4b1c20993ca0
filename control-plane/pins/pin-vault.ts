// Seals PINs for the database (AES-256-GCM), with a key that only a file of the service has.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSecretFile } from '../config/new-secret-file.ts';
import { OperatorRefusal } from '../domain/refusal.ts';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter PINs are padded, so that the sealed text does not show their length. */
const PIN_LENGTH_MAX = 8;
const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/** Where the key is, by the options of the service. */
export const pinKeyFileOf = ({
  dataDir,
  pinKeyFile,
}: {
  dataDir: string;
  pinKeyFile?: string | undefined;
}): string => pinKeyFile ?? join(dataDir, 'pin.key');

/** A PIN that this service cannot open. */
export class PinUnreadable extends Error {
  override name = 'PinUnreadable';
}

export class PinVault {
  readonly #file: string;
  #key: Buffer | undefined;

  /** `file`: of the key. The first PIN makes the file if it is missing. */
  constructor(file: string) {
    this.#file = file;
  }

  /** The PIN of a card for the database. Throws `OperatorRefusal` if the key cannot be read or made. */
  seal(iccid: string, pin: string): string {
    const key = this.#readKey() ?? this.#makeKey();
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(contextOf(iccid));
    const text = cipher.update(pin.padEnd(PIN_LENGTH_MAX), 'utf8');
    const bytes = Buffer.concat([iv, text, cipher.final(), cipher.getAuthTag()]);
    return `v1.${nameOf(key)}.${bytes.toString('base64url')}`;
  }

  /** The PIN of a card from the database. Throws `PinUnreadable`. */
  open(iccid: string, sealed: string): string {
    const [, name, text = ''] = SEALED.exec(sealed) ?? [];
    let key: Buffer | undefined;
    try {
      key = this.#readKey();
    } catch (cause) {
      throw new PinUnreadable((cause as Error).message, { cause });
    }
    if (key === undefined) throw new PinUnreadable(`the key of the PINs is missing: ${this.#file}`);
    if (name !== nameOf(key)) throw new PinUnreadable('the PIN was sealed with another key');
    const bytes = Buffer.from(text, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES));
      decipher.setAAD(contextOf(iccid)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]).toString('utf8').trimEnd();
    } catch (cause) {
      throw new PinUnreadable('the sealed PIN is damaged, or of another card', { cause });
    }
  }

  /** Whether this is the sealed PIN. False if it cannot be opened. */
  isPin(iccid: string, sealed: string, pin: string): boolean {
    try {
      return this.open(iccid, sealed) === pin;
    } catch (error) {
      if (error instanceof PinUnreadable) return false;
      throw error;
    }
  }

  #readKey(): Buffer | undefined {
    if (this.#key !== undefined) return this.#key;
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8').trim();
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw new OperatorRefusal(`The key of the PINs cannot be read: ${this.#file}: ${code}`, { cause });
    }
    if (!KEY_TEXT.test(text))
      throw new OperatorRefusal(
        `${this.#file} must contain the key of the PINs: 43 characters of base64url.`,
      );
    this.#key = Buffer.from(text, 'base64url');
    return this.#key;
  }

  #makeKey(): Buffer {
    try {
      writeSecretFile(this.#file, `${randomBytes(KEY_BYTES).toString('base64url')}\n`);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new OperatorRefusal(`The key of the PINs cannot be written: ${this.#file}: ${code}`, { cause });
    }
    const key = this.#readKey();
    if (key === undefined) throw new OperatorRefusal(`The key of the PINs is missing: ${this.#file}`);
    return key;
  }
}

/** A sealed PIN opens for its card only. */
const contextOf = (iccid: string): Buffer => Buffer.from(`simrack pin ${iccid}`);

/** Distinguishes keys, and reveals nothing about them. */
const nameOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8);
