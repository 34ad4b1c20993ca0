// Opens the PINs that the control plane seals for this node. The key exists as long as the process, and is never stored.
import { sign } from 'node:crypto';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { type PinKey, pinKeyText, type SealedPin, sealedPinSchema } from '#shared/link/pin-seal.ts';
import type { Identity } from './identity.ts';

export class PinBox {
  readonly #secret: string;
  readonly #recipient: string;

  private constructor(secret: string, recipient: string) {
    this.#secret = secret;
    this.#recipient = recipient;
  }

  /** With a new key. */
  static async create(): Promise<PinBox> {
    const secret = await generateX25519Identity();
    return new PinBox(secret, await identityToRecipient(secret));
  }

  /** The public key, signed by this node, for `hello`. */
  keyOf({ key, nodeId }: Identity): PinKey {
    const text = pinKeyText(nodeId, this.#recipient);
    return {
      recipient: this.#recipient,
      signature: sign(null, Buffer.from(text), key).toString('base64url'),
    };
  }

  /** Returns the PIN and its card; undefined for anything that was not sealed for this key. */
  async open(sealed: string): Promise<SealedPin | undefined> {
    const decrypter = new Decrypter();
    decrypter.addIdentity(this.#secret);
    try {
      const text = await decrypter.decrypt(Buffer.from(sealed, 'base64'), 'text');
      return sealedPinSchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }
}
