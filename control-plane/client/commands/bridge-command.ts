// `simrack bridge`: connects the calls of a number with a bot on this machine.
import { setMaxListeners } from 'node:events';
import type { Command } from 'commander';
import { ApiError } from '../api-error.ts';
import type { BotCall, ConnectBot } from '../bridge/bot.ts';
import { bridgeCalls, bridgeDial } from '../bridge/bridge.ts';
import type { BridgedCall } from '../bridge/bridged-call.ts';
import type { SimrackClient } from '../simrack-client.ts';
import { answering } from './arguments.ts';
import { addBotOptions, type BotOptions, botOf } from './bot-options.ts';
import { type ApiOptions, type ApiPlan, apiPlanOf, startApi } from './bridge-api.ts';
import { InterruptedError, interruptible, RefusedError, readInput, UsageError } from './failures.ts';
import type { CommandSession, Environment } from './session.ts';

const FIELDS = [
  'call_id',
  'call_sid',
  'account_id',
  'direction',
  'from',
  'to',
  'answered',
  'bot_connected',
  'failed',
  'reason',
  'words',
];

interface BridgeCommandOptions extends BotOptions, ApiOptions {
  dial?: string;
  tokens?: string;
}

export function addBridgeCommand(program: Command, session: () => CommandSession, env: Environment): void {
  answering(addBotOptions(program.command('bridge')), FIELDS)
    .description('Answer calls with your bot, until Ctrl-C. Prints a line of JSON when a call has ended.')
    .option('--dial <number>', 'Call this number instead of waiting for calls; stop when the call ends')
    .option('--tokens <file>', 'Serve several numbers: a file with one token a line')
    .option(
      '--api <address>',
      'Serve a REST API like Twilio’s, such as at 127.0.0.1:2010; credentials: TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN',
    )
    .option('--texts <url>', 'Post received texts to this URL, as Twilio does; needs --api')
    .action((url: string | undefined, options: BridgeCommandOptions, command: Command) => {
      const prints = command.optsWithGlobals<{ json?: boolean }>().json !== true;
      const plan = apiPlanOf(options, env, { prints });
      const authToken = plan?.authToken ?? (env['TWILIO_AUTH_TOKEN'] || undefined);
      const connect = botOf(url, options, { env, authToken, isOptional: plan !== undefined });
      if (options.dial !== undefined && (connect === undefined || plan !== undefined))
        throw new UsageError('--dial needs a bot, and no --api: its apps place calls');
      return bridge(session(), { ...options, connect, plan });
    });
}

async function bridge(
  at: CommandSession,
  {
    connect,
    dial,
    tokens,
    plan,
  }: BridgeCommandOptions & { connect: ConnectBot | undefined; plan: ApiPlan | undefined },
): Promise<void> {
  const { output } = at;
  const clients = tokens === undefined ? [await at.client()] : await clientsOf(at, tokens);
  await interruptible(async (signal) => {
    setMaxListeners(0, signal);
    const api = plan && (await startApi(at, plan, clients));
    const options = {
      signal,
      ...(api === undefined ? {} : { nameCall: api.nameCall }),
      onCall: (call: BotCall) => output.note(`${titleOf(call)}: connecting the bot`),
      onNote: (call: BotCall, words: string) => output.note(`${titleOf(call)}: ${words}`),
      onEnd: (call: BridgedCall) => {
        output.note(`${titleOf(call)}: ${call.words}`);
        output.line(lineOf(call));
      },
    };
    const [first] = clients;
    let isRefused = false;
    try {
      if (connect === undefined) await Promise.race([aborted(signal), api?.running]);
      else if (dial !== undefined && first !== undefined)
        isRefused = await isDialRefused(first, dial, { connect, ...options });
      else {
        const serving = Promise.all(clients.map((client) => serve(client, at, { connect, ...options })));
        await (api === undefined ? serving : Promise.race([serving, api.running]));
      }
    } finally {
      await api?.close();
    }
    if (signal.aborted && dial !== undefined && signal.reason instanceof InterruptedError)
      throw signal.reason;
    if (isRefused) throw new RefusedError('the bot and the other party were not connected');
  });
}

async function isDialRefused(...asked: Parameters<typeof bridgeDial>): Promise<boolean> {
  const { answered, connected, failed } = await bridgeDial(...asked);
  return answered !== true || !connected || failed;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function serve(
  client: SimrackClient,
  { output }: CommandSession,
  options: Parameters<typeof bridgeCalls>[1],
): Promise<void> {
  await bridgeCalls(client, {
    ...options,
    onState: ({ connected, error }) =>
      output.note(connected ? 'waiting for calls' : `${error?.message}: connecting again`),
  });
}

/** As a program reads it. */
function lineOf(call: BridgedCall): object {
  const { callId, callSid, accountId, direction, from, to, answered, connected, failed, reason, words } =
    call;
  return {
    call_id: callId,
    call_sid: callSid ?? null,
    account_id: accountId,
    direction,
    from,
    to,
    answered,
    bot_connected: connected,
    failed,
    reason,
    words,
  };
}

const titleOf = ({ direction, from, to, callId }: BotCall): string =>
  `${callId}, ${direction === 'inbound' ? `from ${from ?? 'an unknown number'}` : `to ${to}`}`;

/** One for each line of the file. Throws `ApiError` for a token that the service refuses, with its line. */
function clientsOf(at: CommandSession, file: string): Promise<SimrackClient[]> {
  const checked = async ({ token, line }: { token: string; line: number }): Promise<SimrackClient> => {
    const client = at.clientOf(token);
    try {
      await client.number();
      return client;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError({ ...error, message: `line ${line} of ${file}: ${error.message}` });
    }
  };
  return Promise.all(tokensOf(file).map(checked));
}

function tokensOf(file: string): Array<{ token: string; line: number }> {
  return readInput(file)
    .toString()
    .split('\n')
    .map((text, index) => ({ token: text.trim(), line: index + 1 }))
    .filter(({ token }) => token !== '');
}
