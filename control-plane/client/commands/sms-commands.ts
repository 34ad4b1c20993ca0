// `simrack send | receive | messages`: text messages from a terminal.
import { type Command, Option } from 'commander';
import { noAnswer } from '../api-error.ts';
import type { InboundMessage } from '../inbox.ts';
import type { HistoryMessage } from '../simrack-client.ts';
import { isApiError } from '../transport.ts';
import { dateTime, wholeNumber } from './arguments.ts';
import type { Session } from './session.ts';

const WAIT_SECONDS = 60;
const LIMIT = 50;

interface HistoryOptions {
  direction: 'sent' | 'received' | 'both';
  since?: Date;
  until?: Date;
  limit: number;
}

export function addSmsCommands(program: Command, session: () => Session): void {
  program
    .command('send')
    .description('send an SMS')
    .requiredOption('--to <number>', 'destination, E.164')
    .requiredOption('--body <text>', 'text')
    .action(async (sms: { to: string; body: string }) =>
      session().answer(await session().client().send(sms)),
    );
  program
    .command('receive')
    .description('claim the SMS that have come in: each is given out once')
    .option('--wait [seconds]', `wait for one (${WAIT_SECONDS} s where not said)`, wholeNumber)
    .option('--from <number>', 'wait for one of this sender; others that come are printed, too')
    .action((options: { wait?: number | true; from?: string }) => receive(session(), options));
  program
    .command('messages')
    .description('the history, newest first')
    .addOption(new Option('--direction <direction>').choices(['sent', 'received', 'both']).default('both'))
    .option('--since <time>', 'not older than this', dateTime)
    .option('--until <time>', 'not newer than this', dateTime)
    .option('--limit <n>', 'how many at most', wholeNumber, LIMIT)
    .action(async ({ limit, ...query }: HistoryOptions) => {
      const at = session();
      const messages: HistoryMessage[] = [];
      for await (const message of at
        .client()
        .history({ ...query, limit: Math.min(100, Math.max(1, limit)) })) {
        if (messages.length >= limit) break;
        messages.push(message);
      }
      at.answer({ messages, count: messages.length });
    });
}

async function receive(at: Session, { wait, from }: { wait?: number | true; from?: string }): Promise<void> {
  const client = at.client();
  if (wait === undefined) {
    at.answer(await client.receive({ limit: 100 }));
    return;
  }
  const seconds = wait === true ? WAIT_SECONDS : wait;
  at.note(`waiting up to ${seconds} s for a message${from === undefined ? '' : ` of ${from}`} …`);
  let awaited: InboundMessage | undefined;
  try {
    awaited = await client.waitForMessage({
      ...{ timeoutMs: seconds * 1000, from },
      onTrouble: ({ code }) => at.note(`${code}: asking again …`),
    });
  } catch (error) {
    if (!isApiError(error, 'timeout')) throw error;
  }
  // A claim is the only one: what came beside it is printed, too.
  const messages = [...client.held(), ...(awaited === undefined ? [] : [awaited])];
  messages.sort((one, other) => one.id - other.id);
  at.answer({ messages, count: messages.length });
  if (awaited === undefined) throw noAnswer('timeout', `no such message within ${seconds} s`);
}
