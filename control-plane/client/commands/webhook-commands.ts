// `simrack webhook add | list | change | remove | rotate | test | deliveries | replay`: webhooks in a terminal.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { OPERATION } from '#shared/api/operations.ts';
import {
  DELIVERY_STATES,
  type DeliveryState,
  WEBHOOK_EVENTS,
  type WebhookEvent,
  webhookDeliverySchema,
  webhookSchema,
} from '#shared/api/webhooks.ts';
import { closest } from '#shared/process/suggestion.ts';
import { ApiError } from '../api-error.ts';
import type { WebhookDelivery } from '../webhooks.ts';
import { answering, answers, dateTime, fieldsOf, wholeNumber } from './arguments.ts';
import { UsageError } from './failures.ts';
import type { CommandSession } from './session.ts';

const LIMIT = 50;
const PAGE_LIMIT = 100;

interface AddOptions {
  event?: WebhookEvent[];
  claim?: true;
  description?: string;
}

interface ChangeOptions {
  url?: string;
  event?: WebhookEvent[];
  claim?: boolean;
  description?: string;
  enable?: true;
  disable?: true;
}

interface ReplayOptions {
  delivery?: number;
  since?: Date;
}

function eventOption(about: string): Option {
  const option = new Option('--event <event...>', about).choices(WEBHOOK_EVENTS);
  const { parseArg: parse } = option;
  return option.argParser((name, before: unknown) => {
    const meant = WEBHOOK_EVENTS.some((event) => event === name) ? undefined : closest(name, WEBHOOK_EVENTS);
    if (meant !== undefined) throw new InvalidArgumentError(`Did you mean ${meant}?`);
    return parse?.(name, before);
  });
}

type Session = () => CommandSession;

export function addWebhookCommands(program: Command, session: Session): void {
  const webhook = program.command('webhook').description('Have texts, statuses and calls posted to a URL.');
  addCommand(webhook, session);
  listCommand(webhook, session);
  changeCommand(webhook, session);
  removeCommand(webhook, session);
  rotateCommand(webhook, session);
  testCommand(webhook, session);
  deliveriesCommand(webhook, session);
  replayCommand(webhook, session);
}

const webhooks = async (at: CommandSession) => (await at.client()).webhooks;

function addCommand(webhook: Command, session: Session): void {
  answering(webhook.command('add'), fieldsOf(OPERATION.addWebhook))
    .description('Add a webhook. Its secret is printed once.')
    .argument('<url>', 'Where events are posted, https')
    .addOption(eventOption('Only these events; default: all'))
    .option('--claim', 'Count a text as claimed once the receiver has it')
    .option('--description <text>', 'A note for yourself')
    .action(
      answers(session, async (at, url: string, { event, ...options }: AddOptions) =>
        (await webhooks(at)).add({ url, ...options, ...(event === undefined ? {} : { events: event }) }),
      ),
    );
}

function listCommand(webhook: Command, session: Session): void {
  answering(webhook.command('list'), ['webhooks', 'count', ...fieldsOf({ answer: webhookSchema })])
    .description('List the webhooks, and whether they work.')
    .action(async () => {
      const at = session();
      const list = await (await webhooks(at)).list();
      at.output.answer({ webhooks: list, count: list.length }, list);
    });
}

function changeCommand(webhook: Command, session: Session): void {
  answering(webhook.command('change'), fieldsOf(OPERATION.changeWebhook))
    .description('Change a webhook, or enable it again.')
    .argument('<id>')
    .option('--url <url>', 'Where events are posted from now on')
    .addOption(eventOption('Only these events from now on'))
    .option('--claim', 'Count a text as claimed once the receiver has it')
    .option('--no-claim', 'Leave the texts to be claimed')
    .option('--description <text>', 'A note for yourself')
    .option('--enable', 'Send events again. Get the texts that were received meanwhile with replay')
    .option('--disable', 'Send only tests. Events that occur meanwhile are not queued')
    .action(async (id: string, { disable, enable, event, ...options }: ChangeOptions) => {
      if (enable === true && disable === true) throw new UsageError('use --enable or --disable, not both');
      const change = {
        ...options,
        ...(event === undefined ? {} : { events: event }),
        ...(enable === true ? { enabled: true } : {}),
        ...(disable === true ? { enabled: false } : {}),
      };
      if (Object.keys(change).length === 0) throw new UsageError('there is nothing to change');
      const at = session();
      at.output.answer(await (await webhooks(at)).change(id, change));
    });
}

function removeCommand(webhook: Command, session: Session): void {
  answering(webhook.command('remove'), ['removed'])
    .description('Remove a webhook with everything that waits for it.')
    .argument('<id>')
    .action(
      answers(session, async (at, id: string) => {
        await (await webhooks(at)).remove(id);
        return { removed: id };
      }),
    );
}

function rotateCommand(webhook: Command, session: Session): void {
  answering(webhook.command('rotate'), fieldsOf(OPERATION.rotateWebhook))
    .description('Make a new secret and print it. For a day, requests are also signed with the old one.')
    .argument('<id>')
    .action(answers(session, async (at, id: string) => (await webhooks(at)).rotate(id)));
}

function testCommand(webhook: Command, session: Session): void {
  answering(webhook.command('test'), fieldsOf(OPERATION.testWebhook))
    .description('Send a test event now, and print what the receiver answered.')
    .argument('<id>')
    .action(async (id: string) => {
      const at = session();
      const result = await (await webhooks(at)).test(id);
      at.output.answer(result);
      if (!result.delivered) throw notDelivered(result.error);
    });
}

function deliveriesCommand(webhook: Command, session: Session): void {
  answering(webhook.command('deliveries'), [
    'deliveries',
    'count',
    ...fieldsOf({ answer: webhookDeliverySchema }),
  ])
    .description('List the deliveries of the last week, newest first.')
    .argument('<id>')
    .addOption(new Option('--state <state>', 'Only those in this state').choices(DELIVERY_STATES))
    .option('--limit <n>', 'Maximum number of deliveries', wholeNumber, LIMIT)
    .action(async (id: string, { limit, state }: { limit: number; state?: DeliveryState }) => {
      const at = session();
      const found: WebhookDelivery[] = [];
      const page = Math.min(PAGE_LIMIT, Math.max(1, limit));
      for await (const delivery of (await webhooks(at)).deliveries(id, { state, limit: page })) {
        if (found.length >= limit) break;
        found.push(delivery);
      }
      at.output.answer({ deliveries: found, count: found.length }, found);
    });
}

function replayCommand(webhook: Command, session: Session): void {
  answering(webhook.command('replay'), fieldsOf(OPERATION.replayWebhook))
    .description('Send one delivery again, or all events since a time.')
    .argument('<id>')
    .option('--delivery <id>', 'The id of a delivery', wholeNumber)
    .option('--since <time>', 'All events since then, at most a week back', dateTime)
    .action(async (id: string, { delivery, since }: ReplayOptions) => {
      if ((delivery === undefined) === (since === undefined))
        throw new UsageError(
          since === undefined ? 'name one of --delivery and --since' : 'use --delivery or --since, not both',
        );
      const at = session();
      const what = since === undefined ? { delivery_id: Number(delivery) } : { since };
      at.output.answer({ queued: await (await webhooks(at)).replay(id, what) });
    });
}

/** Status 0, like all failures to get an answer: the receiver gave none, or refused. */
const notDelivered = (error: string | null): ApiError =>
  new ApiError({ status: 0, code: 'not_delivered', message: `the receiver did not take it: ${error}` });
