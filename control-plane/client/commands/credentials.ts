// What the command line remembers between two runs: the token of each wallet, and a payment whose end is not known.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { FolderInUseError, lockFolder } from '#shared/process/single-instance.ts';
import { type SignedPayment, signedPaymentSchema } from '../payments/signed-payment.ts';
import { UsageError } from './failures.ts';
import { readPrivate, writePrivate } from './private-file.ts';

const credentialsSchema = z.object({
  base_url: z.string(),
  wallet: z.string().optional(),
  token: z.string(),
  number: z.string().optional(),
});
export type Credentials = z.infer<typeof credentialsSchema>;

export class CredentialStore {
  /** Of the token. */
  readonly file: string;
  readonly #folder: string;

  /** `tokenFile` in place of the file that is found by service and wallet. */
  constructor(parts: { configHome: string; baseUrl: string; name: string; tokenFile?: string | undefined }) {
    const host = new URL(parts.baseUrl).host.replace(/[^\w.-]/g, '_');
    this.file = parts.tokenFile ?? join(parts.configHome, 'simrack', host, `${parts.name}.json`);
    this.#folder = dirname(this.file);
  }

  /** Throws `UsageError` for a file that cannot be trusted. */
  read(): Credentials | undefined {
    return readPrivate(this.file, credentialsSchema);
  }

  /** The token of another wallet is not overwritten but put aside; returns where it is then. */
  save(credentials: Credentials): string | undefined {
    const before = this.read();
    const isOther = before?.wallet !== undefined && before.wallet !== credentials.wallet;
    const aside = isOther ? join(this.#folder, `${before.wallet}.json`) : undefined;
    if (aside !== undefined) writePrivate(aside, before);
    writePrivate(this.file, credentials);
    return aside;
  }

  /** Two at a time would sign two payments. Throws `UsageError` while another process pays. */
  async whilePaying<T>(work: () => Promise<T>): Promise<T> {
    const unlock = await lockFolder(this.#folder, 'subscribe', 0o700).catch((error: unknown) => {
      const isTaken = error instanceof FolderInUseError;
      throw new UsageError(isTaken ? 'another simrack subscribe is under way' : (error as Error).message);
    });
    return work().finally(unlock);
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
    return join(this.#folder, `payment-${wallet.toLowerCase()}.json`);
  }
}
