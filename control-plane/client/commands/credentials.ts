// The files that persist between runs: the token of each wallet, and payments with an unknown outcome.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { FolderInUseError, lockFolder } from '#shared/process/single-instance.ts';
import type { SignedPayment } from '../payments/sign.ts';
import { BusyError, UsageError, unusable } from './failures.ts';

const credentialsSchema = z.object({
  base_url: z.url(),
  wallet: z.string().optional(),
  token: z.string(),
  number: z.string().optional(),
});
type Credentials = z.infer<typeof credentialsSchema>;

const signedPaymentSchema = z.object({
  header: z.enum(['X-PAYMENT', 'PAYMENT-SIGNATURE', 'Authorization']),
  value: z.string(),
});

/** Names of this machine: a payment that is stored under one of them is found under the others. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(?=:|$)/;

const hostOf = ({ host }: URL): string => host.replace(LOOPBACK, '127.0.0.1');

/** The same for each name of this machine. */
function originOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${url.protocol}//${hostOf(url)}`;
}

/** Wallets are addresses in EIP-55 spelling. Without a wallet, it is the default one of commands that name none. */
export class CredentialStore {
  readonly #baseUrl: string;
  readonly #folder: string;
  readonly #tokenFile: string | undefined;
  readonly #platform: NodeJS.Platform | undefined;

  /** `tokenFile` replaces the token files named after service and wallet. */
  constructor(parts: {
    configHome: string;
    baseUrl: string;
    tokenFile?: string | undefined;
    platform?: NodeJS.Platform;
  }) {
    const host = hostOf(new URL(parts.baseUrl)).replace(/[^\w.-]/g, '_');
    this.#folder = join(parts.configHome, 'simrack', host);
    this.#baseUrl = parts.baseUrl;
    this.#tokenFile = parts.tokenFile;
    this.#platform = parts.platform;
  }

  /** File of the token. */
  fileOf(wallet?: string): string {
    return this.#tokenFile ?? join(this.#folder, `${wallet ?? 'default'}.json`);
  }

  /** Credentials of this wallet only. Throws `UsageError` for a file that cannot be trusted, or that has a token of another service. */
  read(wallet?: string): Credentials | undefined {
    const file = this.fileOf(wallet);
    const kept = readPrivate(file, credentialsSchema);
    if (kept === undefined || (wallet !== undefined && kept.wallet !== wallet)) return undefined;
    // Another service would learn the token, or with http every network on the way.
    if (originOf(kept.base_url) !== originOf(this.#baseUrl))
      throw new UsageError(
        `${file} has a token of ${new URL(kept.base_url).origin}, not of ${new URL(this.#baseUrl).origin}: use that URL or another --token-file. If both are the same service, set SIMRACK_TOKEN to the token`,
      );
    return kept;
  }

  /**
   * Stores the token. If a named file has the token of another wallet, moves that aside and returns its new path. With `isDefault` it is
   * also the token of commands that name no wallet.
   */
  save(credentials: Credentials & { wallet: string }, isDefault: boolean): string | undefined {
    const { wallet } = credentials;
    const aside = this.#tokenFile === undefined ? undefined : this.#putAside(this.#tokenFile, wallet);
    writePrivate(this.fileOf(wallet), credentials);
    if (isDefault && this.#tokenFile === undefined) writePrivate(this.fileOf(), credentials);
    return aside;
  }

  /** Two runs at once would sign two payments. Throws `BusyError` while another process pays with this wallet. */
  async whilePaying<T>(wallet: string, work: () => Promise<T>): Promise<T> {
    const holder = 'another "simrack subscribe"';
    const locked = lockFolder(this.#folder, `subscribe-${wallet}`, 0o700, holder, this.#platform);
    const unlock = await locked.catch((error: unknown) => {
      if (error instanceof FolderInUseError) {
        const hint = error.lockFile === undefined ? '' : `. If it is not, remove ${error.lockFile}`;
        throw new BusyError(`${holder} is running${hint}`);
      }
      throw new UsageError((error as Error).message);
    });
    try {
      return await work();
    } finally {
      await unlock();
    }
  }

  /** A payment of this wallet that was sent and whose outcome is unknown. */
  pending(wallet: string): SignedPayment | undefined {
    return readPrivate(this.pendingFile(wallet), signedPaymentSchema);
  }

  savePending(wallet: string, payment: SignedPayment): void {
    writePrivate(this.pendingFile(wallet), payment);
  }

  clearPending(wallet: string): void {
    rmSync(this.pendingFile(wallet), { force: true });
  }

  #putAside(file: string, wallet: string): string | undefined {
    const before = readPrivate(file, credentialsSchema);
    if (before?.wallet === undefined || before.wallet === wallet) return undefined;
    const aside = join(dirname(file), `${before.wallet}.json`);
    writePrivate(aside, before);
    return aside;
  }

  /** Independent of the token's file: a caller that names another token file must not pay again. */
  pendingFile(wallet: string): string {
    return join(this.#folder, `payment-${wallet.toLowerCase()}.json`);
  }
}

/** Undefined if there is none. Throws `UsageError` for a file that others can read, or that has other contents. */
function readPrivate<S extends z.ZodType>(file: string, schema: S): z.output<S> | undefined {
  let text: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new UsageError(`${file} can be read by other users: run chmod 600 on it`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof UsageError ? error : unusable(file, error);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} was not written by this program`);
  }
}

/** Writes all of it or nothing, even if the process is killed. Throws `UsageError`. */
function writePrivate(file: string, value: unknown): void {
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw unusable(file, error);
  }
}
