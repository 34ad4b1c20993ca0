// `simrack send | receive | messages`: text messages from a terminal.
import { type Command, Option } from 'commander';
import { historyMessageSchema, inboundMessageSchema } from '#shared/api/answers.ts';
import { OPERATION } from '#shared/api/operations.ts';
import { isApiError, noAnswer } from '../api-error.ts';
import type { InboundMessage } from '../inbox.ts';
import type { HistoryMessage } from '../simrack-client.ts';
import { answering, dateTime, fieldsOf, wholeNumber } from './arguments.ts';
import { InterruptedError, UsageError } from './failures.ts';
import { interruptible } from './interrupt.ts';
import type { Session } from './session.ts';

const WAIT_SECONDS = 60;
const LIMIT = 50;
const PAGE_LIMIT = 100;

interface HistoryOptions {
  direction: 'sent' | 'received' | 'both';
  since?: Date;
  until?: Date;
  limit: number;
}

interface ReceiveOptions {
  wait?: number | true;
  from?: string;
}

export function addSmsCommands(program: Command, session: () => Session): void {
  answering(program.command('send'), fieldsOf(OPERATION.send))
    .description('send an SMS')
    .requiredOption('--to <number>', 'destination, E.164')
    .requiredOption('--body <text>', 'text')
    .action(async (sms: { to: string; body: string }) => {
      const at = session();
      at.output.answer(await (await at.client()).send(sms));
    });
  answering(program.command('receive'), [
    ...fieldsOf(OPERATION.receive),
    ...Object.keys(inboundMessageSchema.shape),
  ])
    .description('claim the SMS that have come in: each is given out once')
    .option('--wait [seconds]', `wait for one (${WAIT_SECONDS} s where not said)`, wholeNumber)
    .option('--from <number>', 'wait for one of this sender; others that come are printed, too')
    .action((options: ReceiveOptions) => receive(session(), options));
  answering(program.command('messages'), ['messages', 'count', ...Object.keys(historyMessageSchema.shape)])
    .description('the history, newest first; claims nothing')
    .addOption(new Option('--direction <direction>').choices(['sent', 'received', 'both']).default('both'))
    .option('--since <time>', 'not older than this', dateTime)
    .option('--until <time>', 'not newer than this', dateTime)
    .option('--limit <n>', 'how many at most', wholeNumber, LIMIT)
    .action((options: HistoryOptions) => list(session(), options));
}

async function list(at: Session, { limit, ...query }: HistoryOptions): Promise<void> {
  const messages: HistoryMessage[] = [];
  const client = await at.client();
  const pageLimit = Math.min(PAGE_LIMIT, Math.max(1, limit));
  for await (const message of client.history({ ...query, limit: pageLimit })) {
    if (messages.length >= limit) break;
    messages.push(message);
  }
  at.output.answer({ messages, count: messages.length }, messages);
}

async function receive(at: Session, { wait, from }: ReceiveOptions): Promise<void> {
  if (wait === undefined && from !== undefined) throw new UsageError('--from needs --wait');
  const client = await at.client();
  if (wait === undefined) {
    const claimed = await client.receive({ limit: PAGE_LIMIT });
    at.output.claimed(claimed);
    return;
  }
  const seconds = wait === true ? WAIT_SECONDS : wait;
  at.output.waiting(`waiting up to ${seconds} s for a message${from === undefined ? '' : ` of ${from}`}`);
  let awaited: InboundMessage | undefined;
  let failure: Error | undefined;
  try {
    awaited = await interruptible((signal) =>
      client.waitForMessage({
        ...{ timeoutMs: seconds * 1000, from, signal },
        onTrouble: ({ code }) => at.output.waiting(`${code}: asking again`),
      }),
    );
  } catch (error) {
    failure = isApiError(error, 'timeout')
      ? noAnswer('timeout', `no such message within ${seconds} s`)
      : (error as Error);
  }
  // A claim is the only one: what came beside it is printed, too.
  const messages = [...(await client.held()), ...(awaited === undefined ? [] : [awaited])];
  messages.sort((one, other) => one.id - other.id);
  const hasEnded =
    failure === undefined || isApiError(failure, 'timeout') || failure instanceof InterruptedError;
  if (hasEnded || messages.length > 0) at.output.claimed({ messages, count: messages.length });
  if (failure !== undefined) throw failure;
}
