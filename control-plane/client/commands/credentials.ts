// What the command line remembers between two runs: the token of each wallet, and a payment whose end is not known.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type SignedPayment, signedPaymentSchema } from '../payments/sign.ts';
import { readPrivate, writePrivate } from './private-file.ts';

const credentialsSchema = z.object({
  base_url: z.string(),
  wallet: z.string().optional(),
  token: z.string(),
  number: z.string().optional(),
});
export type Credentials = z.infer<typeof credentialsSchema>;

export class CredentialStore {
  readonly #folder: string;
  readonly #file: string;

  /** `tokenFile` in place of the file that is found by service and wallet. */
  constructor(parts: { configHome: string; baseUrl: string; name: string; tokenFile?: string | undefined }) {
    const host = new URL(parts.baseUrl).host.replace(/[^\w.-]/g, '_');
    this.#folder = join(parts.configHome, 'simrack', host);
    this.#file = parts.tokenFile ?? join(this.#folder, `${parts.name}.json`);
  }

  get file(): string {
    return this.#file;
  }

  read(): Credentials | undefined {
    return readPrivate(this.#file, credentialsSchema);
  }

  save(credentials: Credentials): void {
    writePrivate(this.#file, credentials);
  }

  /** A payment of this wallet that was sent, and of which nothing is known. */
  pending(wallet: string): SignedPayment | undefined {
    return readPrivate(this.#pendingFile(wallet), signedPaymentSchema);
  }

  savePending(wallet: string, payment: SignedPayment): void {
    writePrivate(this.#pendingFile(wallet), payment);
  }

  clearPending(wallet: string): void {
    rmSync(this.#pendingFile(wallet), { force: true });
  }

  // Beside the token, wherever that is.
  #pendingFile(wallet: string): string {
    return join(dirname(this.#file), `payment-${wallet.toLowerCase()}.json`);
  }
}
