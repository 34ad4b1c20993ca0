// The API from a terminal: one command a call, JSON on standard output. Beside `npm start` it needs no options.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { Hex } from 'viem';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import { ApiClient, ApiError, type Json } from './api-client.ts';

/** Dollars that `subscribe` pays at most, unless told otherwise. */
const DOLLARS_MAX = 2_000;
const ATOMIC_PER_DOLLAR = 1_000_000n;

interface DevStack {
  base_url: string;
  wallets: Array<{ private_key: Hex }>;
}

function devStack(): DevStack {
  const file = join(process.env['DATA_DIR'] || 'data', 'dev-stack.json');
  if (!existsSync(file)) throw new Error(`give --url and --key, or run npm start first (no ${file})`);
  return JSON.parse(readFileSync(file, 'utf8')) as DevStack;
}

const program = new Command('client')
  .description('Calls the API of the service.')
  .option('--url <url>', 'base URL of the service; default that of npm start')
  .option('--print <field>', 'print only this field of the answer');

const api = (): ApiClient => new ApiClient(program.opts<{ url?: string }>().url ?? devStack().base_url);

interface WalletOptions {
  wallet: number;
  key?: string;
}

function accountOf({ key, wallet }: WalletOptions): LocalAccount {
  const privateKey = key ?? process.env['WALLET_KEY'] ?? devStack().wallets[wallet]?.private_key;
  if (privateKey === undefined) throw new Error(`npm start has no wallet ${wallet}`);
  if (!/^0x[0-9a-fA-F]{64}$/.test(privateKey)) throw new Error('a key is 0x and 64 hexadecimal digits');
  return privateKeyToAccount(privateKey as Hex);
}

function number(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('a whole number is needed');
  return Number(text);
}

function print(answer: Json): void {
  const { print: field } = program.opts<{ print?: string }>();
  const text = field === undefined ? JSON.stringify(answer, null, 2) : String(answer[field]);
  process.stdout.write(`${text}\n`);
}

const withWallet = (command: Command): Command =>
  command
    .option('--wallet <n>', 'which wallet of npm start', number, 0)
    .option('--key <key>', 'private key of the wallet; better in the environment as WALLET_KEY');

const withToken = (command: Command): Command => command.requiredOption('--token <token>', 'bearer token');

withWallet(program.command('subscribe').description('pay for a year; prints token and number'))
  .option('--max <dollars>', 'pay at most this', number, DOLLARS_MAX)
  .action(async (options: WalletOptions & { max: number }) =>
    print(await api().subscribe(accountOf(options), BigInt(options.max) * ATOMIC_PER_DOLLAR)),
  );
withWallet(program.command('recover').description('get a new token by wallet signature')).action(
  async (options: WalletOptions) => print(await api().recover(accountOf(options))),
);
program
  .command('availability')
  .description('numbers on sale')
  .action(async () => print(await api().availability()));
withToken(program.command('number').description('the number of a token')).action(
  async ({ token }: { token: string }) => print(await api().number(token)),
);
withToken(program.command('send').description('send an SMS'))
  .requiredOption('--to <number>', 'destination, E.164')
  .requiredOption('--body <text>', 'text')
  .action(async ({ token, to, body }: { token: string; to: string; body: string }) =>
    print(await api().send(token, { to, body })),
  );
withToken(program.command('receive').description('claim the SMS that have arrived'))
  .option('--wait <seconds>', 'wait for the first one', number, 0)
  .action(async ({ token, wait }: { token: string; wait: number }) =>
    print(await api().receive(token, wait)),
  );
withToken(program.command('messages').description('the history, newest first')).action(
  async ({ token }: { token: string }) => print(await api().messages(token)),
);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

function explain(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (!(error instanceof Error)) return `error: ${String(error)}`;
  // fetch says only that it failed; its cause says why.
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `error: ${error.message}${cause}`;
}
