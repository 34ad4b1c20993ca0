// The authenticity of messages between instances: only programs with the secret of the database make and read them. Pure.
import { createHmac, timingSafeEqual } from 'node:crypto';

const MAC_BYTES = 32;

export class MessageSeal {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** `context`: what the message is for; it opens for nothing else. */
  seal(context: string, message: unknown): Uint8Array {
    const json = Buffer.from(JSON.stringify(message));
    return Buffer.concat([this.#mac(context, json), json]);
  }

  /** Undefined for a message of a stranger, or for another context. Keys that end in `At` are dates. */
  open(context: string, bytes: Uint8Array): unknown {
    const mac = bytes.subarray(0, MAC_BYTES);
    const json = Buffer.from(bytes.subarray(MAC_BYTES));
    if (mac.length < MAC_BYTES || !timingSafeEqual(mac, this.#mac(context, json))) return undefined;
    return JSON.parse(json.toString(), (key, value) =>
      key.endsWith('At') && typeof value === 'string' ? new Date(value) : value,
    );
  }

  #mac(context: string, json: Buffer): Buffer {
    return createHmac('sha256', this.#secret).update(`${context}\n`).update(json).digest();
  }
}
