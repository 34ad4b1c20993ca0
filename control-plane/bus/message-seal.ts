// Messages between instances: only programs with the secret of the database make and read them (AES-256-GCM, NIST SP 800-38D). Pure, but
// for chance.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const SALT_BYTES = 32;
const TAG_BYTES = 16;
/** Each message has a key of its own, so that no key is used with it twice. */
const IV = Buffer.alloc(12);

export class MessageSeal {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** `context`: what the message is for; it opens for nothing else. Returns salt, tag and encrypted JSON. */
  seal(context: string, message: unknown): Uint8Array {
    const salt = randomBytes(SALT_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(salt), IV).setAAD(Buffer.from(context));
    const encrypted = [cipher.update(JSON.stringify(message), 'utf8'), cipher.final()];
    return Buffer.concat([salt, cipher.getAuthTag(), ...encrypted]);
  }

  /** Undefined for a message of a stranger, or for another context. Keys that end in `At` are dates. */
  open(context: string, bytes: Uint8Array): unknown {
    const [salt, tag, encrypted] = [
      bytes.subarray(0, SALT_BYTES),
      bytes.subarray(SALT_BYTES, SALT_BYTES + TAG_BYTES),
      bytes.subarray(SALT_BYTES + TAG_BYTES),
    ];
    if (tag.length < TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#keyOf(salt), IV).setAAD(Buffer.from(context));
    decipher.setAuthTag(tag);
    const json = [decipher.update(encrypted)];
    try {
      json.push(decipher.final());
    } catch {
      return undefined;
    }
    return JSON.parse(Buffer.concat(json).toString(), (key, value) =>
      key.endsWith('At') && typeof value === 'string' ? new Date(value) : value,
    );
  }

  #keyOf(salt: Uint8Array): Buffer {
    return createHmac('sha256', this.#secret).update('simrack bus\n').update(salt).digest();
  }
}
