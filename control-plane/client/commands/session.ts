// What every command has of its options: the service, the wallet, the token, and where answers and progress go.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import { SimrackClient } from '../simrack-client.ts';
import { CredentialStore } from './credentials.ts';
import { UsageError } from './exit-codes.ts';

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

const devStackSchema = z.object({
  base_url: z.string(),
  wallets: z.array(z.object({ private_key: z.string() })),
});

export class Session {
  readonly #options: GlobalOptions;
  readonly #env: Environment;

  constructor(options: GlobalOptions, env: Environment) {
    this.#options = options;
    this.#env = env;
  }

  get baseUrl(): string {
    const url = this.#options.url ?? (this.#env['SIMRACK_URL'] || this.#devStack()?.base_url);
    if (url === undefined)
      throw new UsageError(`give --url, or run npm start first (no ${this.#devStackFile})`);
    if (!/^https?:$/.test(protocolOf(url))) throw new UsageError(`--url: not a URL of HTTP: ${url}`);
    return url;
  }

  get store(): CredentialStore {
    const { wallet, tokenFile } = this.#options;
    const configHome = this.#env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
    const name = wallet === undefined ? 'default' : `wallet-${wallet}`;
    return new CredentialStore({ configHome, baseUrl: this.baseUrl, name, tokenFile });
  }

  /** Without a token, for what needs none. */
  stranger(): SimrackClient {
    return new SimrackClient({ baseUrl: this.baseUrl });
  }

  /** With the token that was given, or that a purchase or a recovery has left. */
  client(): SimrackClient {
    const given = this.#options.token ?? (this.#env['SIMRACK_TOKEN'] || undefined);
    const token = given ?? this.store.read()?.token;
    if (token === undefined)
      throw new UsageError(`no token in ${this.store.file}: simrack subscribe, or recover`);
    return new SimrackClient({ baseUrl: this.baseUrl, token });
  }

  /** `WALLET_KEY`, or a wallet of `npm start`. */
  account(): LocalAccount {
    const { wallet } = this.#options;
    const ofStack = (): string | undefined => this.#devStack()?.wallets[wallet ?? 0]?.private_key;
    const key = wallet === undefined ? this.#env['WALLET_KEY'] || ofStack() : ofStack();
    if (key === undefined) throw new UsageError('no wallet: set WALLET_KEY, or run npm start first');
    if (!KEY_PATTERN.test(key)) throw new UsageError('WALLET_KEY: a key is 0x and 64 hexadecimal digits');
    return privateKeyToAccount(key as Hex);
  }

  /** Answers, on standard output: with `--json` in one line. */
  answer(value: object): void {
    const { print, json } = this.#options;
    if (print !== undefined) {
      const field = (value as Record<string, unknown>)[print];
      if (field === undefined) throw new UsageError(`--print: the answer has no ${print}`);
      process.stdout.write(`${typeof field === 'string' ? field : JSON.stringify(field)}\n`);
    } else process.stdout.write(`${JSON.stringify(value, null, json === true ? undefined : 2)}\n`);
  }

  /** One of many answers. */
  line(value: object): void {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  }

  /** Progress, for people. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  get #devStackFile(): string {
    return join(this.#env['DATA_DIR'] || 'data', 'dev-stack.json');
  }

  #devStack(): z.output<typeof devStackSchema> | undefined {
    if (!existsSync(this.#devStackFile)) return undefined;
    try {
      return devStackSchema.parse(JSON.parse(readFileSync(this.#devStackFile, 'utf8')));
    } catch {
      throw new UsageError(`${this.#devStackFile} is not of npm start`);
    }
  }
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol;
  } catch {
    return '';
  }
}
