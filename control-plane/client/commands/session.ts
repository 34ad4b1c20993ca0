// The options and environment that every command needs: service, wallet and token.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import type { LocalAccount } from 'viem/accounts';
import * as z from 'zod';
import { ownCommand } from '#shared/process/own-command.ts';
import { SimrackClient } from '../simrack-client.ts';
import { CredentialStore } from './credentials.ts';
import { UsageError } from './failures.ts';
import { Output } from './output.ts';

export interface GlobalOptions {
  url?: string;
  wallet?: number;
  token?: string;
  tokenFile?: string;
  json?: boolean;
  print?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const KEY_PATTERN = /^0x[0-9a-fA-F]{64}$/;

export class CommandSession {
  readonly output: Output;
  readonly #options: GlobalOptions;
  readonly #env: Environment;

  constructor(options: GlobalOptions, env: Environment) {
    this.#options = options;
    this.#env = env;
    this.output = new Output(options);
  }

  get baseUrl(): string {
    const url = this.#options.url ?? (this.#env['SIMRACK_URL'] || this.#devStack()?.base_url);
    if (url === undefined)
      throw new UsageError(
        `no service: set --url or SIMRACK_URL, or run npm start first (${devStackFile(this.#dataDir)} does not exist)`,
      );
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`not an HTTP URL: ${url}`);
    return url;
  }

  get store(): CredentialStore {
    const { tokenFile } = this.#options;
    const configHome = this.#env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
    return new CredentialStore({ configHome, baseUrl: this.baseUrl, tokenFile });
  }

  /** The further wallets of `npm start` are used only if they are named. */
  get isDefaultWallet(): boolean {
    return (this.#options.wallet ?? 0) === 0;
  }

  /** A client without a token. */
  anonymous(): SimrackClient {
    return new SimrackClient({ baseUrl: this.baseUrl, domain: this.#env['SIMRACK_DOMAIN'] || undefined });
  }

  /** A client with the given token, or the stored one of the named or default wallet. */
  async client(): Promise<SimrackClient> {
    const given = this.#options.token ?? (this.#env['SIMRACK_TOKEN'] || undefined);
    if (given !== undefined) return this.clientOf(given);
    const { store } = this;
    const wallet = this.#namesWallet ? (await this.account()).address : undefined;
    const token = store.read(wallet)?.token;
    if (token === undefined && this.#options.tokenFile !== undefined)
      throw new UsageError(`--token-file: there is no file ${this.#options.tokenFile}`);
    if (token === undefined)
      throw new UsageError(
        `no token in ${store.fileOf(wallet)}: run "${ownCommand('simrack')} subscribe" or "… recover"`,
      );
    return this.clientOf(token);
  }

  get #namesWallet(): boolean {
    const { wallet, tokenFile } = this.#options;
    return tokenFile === undefined && (wallet !== undefined || Boolean(this.#env['WALLET_KEY']));
  }

  clientOf(token: string): SimrackClient {
    return new SimrackClient({ baseUrl: this.baseUrl, token });
  }

  /** `WALLET_KEY`, or a wallet of `npm start`. */
  async account(): Promise<LocalAccount> {
    const { wallet } = this.#options;
    const key = (wallet === undefined ? this.#env['WALLET_KEY'] : undefined) || this.#stackKey(wallet ?? 0);
    if (!KEY_PATTERN.test(key)) throw new UsageError('WALLET_KEY must be 0x and 64 hexadecimal digits');
    // Most commands sign nothing, and loading viem takes longer than they run.
    const { privateKeyToAccount } = await import('viem/accounts');
    return privateKeyToAccount(key as Hex);
  }

  #stackKey(wallet: number): string {
    const wallets = this.#devStack()?.wallets;
    if (wallets === undefined) throw new UsageError('no wallet: set WALLET_KEY, or run npm start first');
    const found = wallets[wallet];
    if (found === undefined)
      throw new UsageError(`--wallet: npm start has wallets 0 to ${wallets.length - 1}`);
    return found.private_key;
  }

  get #dataDir(): string {
    return this.#env['DATA_DIR'] || 'data';
  }

  #devStack(): DevStack | undefined {
    return readDevStack(this.#dataDir);
  }
}

const devStackSchema = z.object({
  base_url: z.string(),
  wallets: z.array(z.object({ private_key: z.string() })),
});
type DevStack = z.output<typeof devStackSchema>;

const devStackFile = (dataDir: string): string => join(dataDir, 'dev-stack.json');

/** Undefined while it does not run. Throws `UsageError` for any other file. */
function readDevStack(dataDir: string): DevStack | undefined {
  const file = devStackFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return devStackSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new UsageError(`${file} was not written by npm start`);
  }
}
