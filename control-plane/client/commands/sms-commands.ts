// `simrack send | receive | messages | delete`: text messages in a terminal.
import { type Command, Option } from 'commander';
import { historyMessageSchema, inboundMessageSchema } from '#shared/api/answers.ts';
import { OPERATION } from '#shared/api/operations.ts';
import { isE164 } from '#shared/identities.ts';
import { segmentText } from '#shared/sms/segmentation.ts';
import { isApiError, noAnswer } from '../api-error.ts';
import type { Answer } from '../api-types.ts';
import type { InboundMessage } from '../claimed-messages.ts';
import { answering, atLeastOne, dateTime, fieldsOf, wholeNumber } from './arguments.ts';
import { InterruptedError, interruptible, UsageError } from './failures.ts';
import type { CommandSession } from './session.ts';

const WAIT_SECONDS = 60;
const LIMIT = 50;
/** A number without its country code: no text has such a sender. Short codes have fewer digits. */
const NATIONAL = /^[\d\s().-]{7,}$/;

const PAGE_LIMIT = 100;

interface HistoryOptions {
  direction: 'sent' | 'received' | 'both';
  since?: Date;
  until?: Date;
  limit: number;
}

interface DeleteOptions extends Pick<HistoryOptions, 'since' | 'until'> {
  all?: true;
  direction?: HistoryOptions['direction'];
}

interface SendOptions {
  to?: string;
  body?: string;
  transliterate?: true;
  since?: Date;
}

interface ReceiveOptions {
  wait?: number | true;
  from?: string;
}

export function addSmsCommands(program: Command, session: () => CommandSession): void {
  answering(program.command('send'), [...fieldsOf(OPERATION.send), 'messages', 'replaced'])
    .description('Send a text. A long one is sent as numbered texts, in order.')
    .option('--to <number>', 'Number of the recipient, E.164; required')
    .option('--body <text>', 'Text to send; required')
    .option(
      '--transliterate',
      'Replace curly quotes, dashes and the like, so that a text can have 160 characters instead of 70',
    )
    .option(
      '--since <time>',
      'Continue an attempt of that time: send only what is not in the history',
      dateTime,
    )
    .action((options: SendOptions) => send(session(), options));
  answering(program.command('receive'), [
    ...fieldsOf(OPERATION.receive),
    ...Object.keys(inboundMessageSchema.shape),
  ])
    .description('Claim the received texts. Each is returned once.')
    .option('--wait [seconds]', `Wait for a text; default ${WAIT_SECONDS} seconds`, wholeNumber)
    .option(
      '--from <number>',
      'Wait until this sender has texted. Texts from others that arrive meanwhile are claimed and printed, too',
    )
    .action((options: ReceiveOptions) => receive(session(), options));
  answering(program.command('messages'), ['messages', 'count', ...Object.keys(historyMessageSchema.shape)])
    .description('List the texts, newest first. Claims nothing.')
    .addOption(
      new Option('--direction <direction>', 'Only sent, only received, or both')
        .choices(['sent', 'received', 'both'])
        .default('both'),
    )
    .option('--since <time>', 'Only texts from this time on', dateTime)
    .option('--until <time>', 'Only texts up to this time', dateTime)
    .option('--limit <n>', 'Maximum number of texts, 1 or more', atLeastOne, LIMIT)
    .action((options: HistoryOptions) => list(session(), options));
  answering(program.command('delete [ids...]'), ['deleted'])
    .description('Delete texts for good: those with these ids, those that match the options, or --all.')
    .option('--all', 'Delete all texts, including unclaimed ones')
    .addOption(
      new Option('--direction <direction>', 'Only sent, or only received').choices(['sent', 'received']),
    )
    .option('--since <time>', 'Only texts from this time on', dateTime)
    .option('--until <time>', 'Only texts up to this time', dateTime)
    .action((ids: string[], options: DeleteOptions) => remove(session(), ids, options));
}

/** A text of one SMS has the answer of the API. */
async function send(at: CommandSession, { to, body, since, transliterate }: SendOptions): Promise<void> {
  // The parser checks required options before it reports an unknown one, such as --text for --body.
  if (to === undefined || body === undefined)
    throw new UsageError(
      `send needs ${to === undefined ? '--to' : '--body'}: simrack send --to NUMBER --body TEXT`,
    );
  const client = await at.client();
  const isPlain = since === undefined && transliterate === undefined;
  if (isPlain && segmentText(body).segments.length === 1) {
    at.output.answer(await client.send({ to, body }));
    return;
  }
  at.output.answer(await client.sendLong({ to, body, since, transliterate }));
}

/** Ids without a message are skipped: there is nothing to delete. */
async function remove(at: CommandSession, written: readonly string[], options: DeleteOptions): Promise<void> {
  const { all, ...query } = options;
  const isFiltered = Object.keys(query).length > 0;
  if ([written.length > 0, all === true, isFiltered].filter(Boolean).length !== 1)
    throw new UsageError(
      'give ids of messages, or select messages with --direction, --since and --until, or use --all',
    );
  const ids = written.map((text) => {
    const parsed = OPERATION.deleteMessage.params.safeParse({ id: text });
    if (!parsed.success) throw new UsageError(`${text} is not the id of a message`);
    return parsed.data.id;
  });
  const client = await at.client();
  let deleted = ids.length > 0 ? 0 : await client.deleteMessages(query);
  for (const id of ids) {
    await client.deleteMessage(id).then(
      () => (deleted += 1),
      (error: unknown) => {
        if (!isApiError(error, 'message_not_found')) throw error;
        at.output.note(`${id}: there is no such message`);
      },
    );
  }
  at.output.answer({ deleted });
}

async function list(at: CommandSession, { limit, ...query }: HistoryOptions): Promise<void> {
  const messages: Answer<'messages'>['messages'] = [];
  const client = await at.client();
  const pageLimit = Math.min(PAGE_LIMIT, limit);
  for await (const message of client.history({ ...query, limit: pageLimit })) {
    if (messages.length >= limit) break;
    messages.push(message);
  }
  at.output.answer({ messages, count: messages.length }, messages);
}

async function receive(at: CommandSession, { wait, from }: ReceiveOptions): Promise<void> {
  if (wait === undefined && from !== undefined) throw new UsageError('--from needs --wait');
  if (from !== undefined && (NATIONAL.test(from) || (from.startsWith('+') && !isE164(from))))
    throw new UsageError(`--from ${from}: write the number in E.164, such as +13105550188`);
  const client = await at.client();
  if (from !== undefined && /^\d+$/.test(from))
    at.output.note(`${from} is not E.164: only a text from the short code ${from} fits`);
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
        timeoutMs: seconds * 1000,
        from,
        signal,
        onTrouble: ({ code }) => at.output.waiting(`${code}: trying again`),
      }),
    );
  } catch (error) {
    failure = isApiError(error, 'timeout')
      ? noAnswer('timeout', `no such message within ${seconds} s`)
      : (error as Error);
  }
  // Each message is claimed only once, so the others that arrived are printed too.
  const messages = [...(await client.held()), ...(awaited === undefined ? [] : [awaited])];
  messages.sort((one, other) => one.id - other.id);
  const hasEnded =
    failure === undefined || isApiError(failure, 'timeout') || failure instanceof InterruptedError;
  if (hasEnded || messages.length > 0) at.output.claimed({ messages, count: messages.length });
  if (failure !== undefined) throw failure;
}
