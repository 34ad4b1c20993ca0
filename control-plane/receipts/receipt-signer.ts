// Signs statements, and publishes the keys that verify them.
import { CompactSign } from 'jose';
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { RECEIPT_ALGORITHM, RECEIPT_TYPE, receiptStatementSchema } from '#shared/api/receipts.ts';
import type { Base } from '../bus/base.ts';
import { addReceiptKey, listReceiptKeys, type ReceiptEvent } from '../store/receipts/receipts.ts';
import { type ReceiptKey, readOrMakeReceiptKey } from './receipt-key.ts';

interface SignerParts extends Pick<Base, 'db' | 'clock'> {
  /** File of the key. The first use creates it. */
  file: string;
  /** Base URL of the service. */
  url: string;
}

export class ReceiptSigner {
  readonly #parts: SignerParts;
  #key: Promise<ReceiptKey> | undefined;

  constructor(parts: SignerParts) {
    this.#parts = parts;
  }

  /** The receipt of an event: a compact JWS. Rejects with `ReceiptKeyError`. */
  async sign(subscriptionId: string, { kind, at, facts, sequence, previous }: ReceiptEvent): Promise<string> {
    const { id, privateKey } = await this.key();
    const statement = receiptStatementSchema.parse({
      iss: this.#parts.url,
      sub: subscriptionId,
      iat: Math.floor(this.#parts.clock.now() / 1000),
      seq: sequence,
      prev: previous,
      kind,
      at: at.toISOString(),
      ...inUtc(facts),
    });
    return new CompactSign(Buffer.from(JSON.stringify(statement)))
      .setProtectedHeader({ alg: RECEIPT_ALGORITHM, typ: RECEIPT_TYPE, kid: id })
      .sign(privateKey);
  }

  /** Before the transaction of the first signature: the embedded database has one connection, and the key is stored through it. */
  async prepare(): Promise<void> {
    await this.key();
  }

  /** The key set (RFC 7517), former keys included. Rejects with `ReceiptKeyError`. */
  async keySet(): Promise<AnswerOf<typeof OPERATION.receiptKeys>> {
    await this.key();
    const keys = await listReceiptKeys(this.#parts.db);
    return {
      keys: keys.map(({ id, jwk: { kty, crv, x } }) => ({
        kty,
        crv,
        x,
        kid: id,
        alg: RECEIPT_ALGORITHM,
        use: 'sig' as const,
      })),
    };
  }

  /** Its public half is in the database before it signs anything. A failure is tried again by the next call. Rejects with `ReceiptKeyError`. */
  async key(): Promise<ReceiptKey> {
    this.#key ??= this.#readKey();
    try {
      return await this.#key;
    } catch (error) {
      this.#key = undefined;
      throw error;
    }
  }

  async #readKey(): Promise<ReceiptKey> {
    const { clock, db, file } = this.#parts;
    const key = await readOrMakeReceiptKey(file);
    await addReceiptKey(db, key.id, key.jwk, new Date(clock.now()));
    return key;
  }
}

/** Postgres writes times in the zone of the session. */
function inUtc(facts: ReceiptEvent['facts']): ReceiptEvent['facts'] {
  const times = ['paid_from', 'paid_until', 'started_at', 'answered_at'];
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      times.includes(name) && value !== null ? new Date(value).toISOString() : value,
    ]),
  );
}
