// The command line's memory between two runs: the token of each wallet, and a payment whose end is not known.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { FolderInUseError, lockFolder } from '#shared/process/single-instance.ts';
import { type SignedPayment, signedPaymentSchema } from '../payments/signed-payment.ts';
import { BusyError, UsageError } from './failures.ts';
import { readPrivate, writePrivate } from './private-file.ts';

const credentialsSchema = z.object({
  base_url: z.string(),
  wallet: z.string().optional(),
  token: z.string(),
  number: z.string().optional(),
});
export type Credentials = z.infer<typeof credentialsSchema>;

/** All are this machine: a payment that is kept under one of these names is found under the others. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(?=:|$)/;

/** Wallets are addresses in their EIP-55 spelling; no wallet is the one that commands take where none is named. */
export class CredentialStore {
  readonly #folder: string;
  readonly #tokenFile: string | undefined;

  /** `tokenFile` in place of the token files that are found by service and wallet. */
  constructor(parts: { configHome: string; baseUrl: string; tokenFile?: string | undefined }) {
    const host = new URL(parts.baseUrl).host.replace(LOOPBACK, '127.0.0.1').replace(/[^\w.-]/g, '_');
    this.#folder = join(parts.configHome, 'simrack', host);
    this.#tokenFile = parts.tokenFile;
  }

  /** Of the token. */
  fileOf(wallet?: string): string {
    return this.#tokenFile ?? join(this.#folder, `${wallet ?? 'default'}.json`);
  }

  /** Of this wallet only. Throws `UsageError` for a file that cannot be trusted. */
  read(wallet?: string): Credentials | undefined {
    const kept = readPrivate(this.fileOf(wallet), credentialsSchema);
    return wallet === undefined || kept?.wallet === wallet ? kept : undefined;
  }

  /**
   * The token of another wallet in a file that was named is not overwritten but put aside; returns where it is then.
   * With `isDefault` it is also that of commands which name no wallet.
   */
  save(credentials: Credentials & { wallet: string }, isDefault: boolean): string | undefined {
    const { wallet } = credentials;
    const aside = this.#tokenFile === undefined ? undefined : this.#putAside(this.#tokenFile, wallet);
    writePrivate(this.fileOf(wallet), credentials);
    if (isDefault && this.#tokenFile === undefined) writePrivate(this.fileOf(), credentials);
    return aside;
  }

  /** Two at a time would sign two payments. Throws `BusyError` while another process pays with this wallet. */
  async whilePaying<T>(wallet: string, work: () => Promise<T>): Promise<T> {
    const unlock = await lockFolder(this.#folder, `subscribe-${wallet}`, 0o700).catch((error: unknown) => {
      if (error instanceof FolderInUseError) throw new BusyError('another simrack subscribe is under way');
      throw new UsageError((error as Error).message);
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

  #putAside(file: string, wallet: string): string | undefined {
    const before = readPrivate(file, credentialsSchema);
    if (before?.wallet === undefined || before.wallet === wallet) return undefined;
    const aside = join(dirname(file), `${before.wallet}.json`);
    writePrivate(aside, before);
    return aside;
  }

  // Independent of the token's file: a caller that names another file for it must not pay again.
  #pendingFile(wallet: string): string {
    return join(this.#folder, `payment-${wallet.toLowerCase()}.json`);
  }
}
