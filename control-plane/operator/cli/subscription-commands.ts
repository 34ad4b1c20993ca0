// `control-plane subscription …`: the list, one with its payments, another number, more days, and the end of one, with its refund.
import { getAddress } from 'viem';
import * as z from 'zod';
import { systemClock } from '#shared/clock.ts';
import { optionalInteger, switchOption } from '#shared/process/options.ts';
import { alignedTable, onLines, toJson } from '#shared/process/terminal.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { maskedNumber, shownValue } from '../../domain/shown-value.ts';
import { REASSIGNED_QUARANTINE_DAYS, SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import { shownRefund } from '../listings/payments.ts';
import { SUBSCRIPTIONS } from '../listings/subscriptions.ts';
import type { Operator } from '../procedures/all-procedures.ts';
import {
  DAYS_MAX,
  decimalAmountSchema,
  nodeSchema,
  numberSchema,
  reasonSchema,
  subscriptionIdSchema,
  timeSchema,
  walletSchema,
} from '../procedures/fields.ts';
import { AGREED_OPTION, agree, showPreview } from './agreement.ts';
import {
  CARRIER_OPTION,
  findOption,
  LIMIT_OPTION,
  listCommand,
  sortOf,
  sortOptions,
  timeOptions,
} from './list-command.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  JSON_OPTION,
  operatorCommand,
  timeOrDash,
} from './operator-command.ts';
import { REFUND_OPTIONS, withKey } from './refund-options.ts';

const REASON_OPTION = { reason: { about: 'Reason, stored in the audit log', schema: reasonSchema } };

const ENDS_AT_OPTION = {
  endsAt: filterOption(
    'Refuse it unless the subscription ends at this time, as "control-plane subscription show" prints it. Makes the command safe to repeat in a script: the subscriber may have paid meanwhile',
    z
      .string()
      .transform((text) => text.replace(' ', 'T'))
      .pipe(timeSchema),
  ),
};

const END_OPTIONS = {
  ...REFUND_OPTIONS,
  ...REASON_OPTION,
  ...ENDS_AT_OPTION,
  refund: {
    about:
      'Refund the payer. Without an amount: the unused share of the price, by whole days left, rounded down to the smallest unit of the token; days added as goodwill do not count. With an amount, such as 899.50: that, at most what was paid and not refunded before',
    schema: z
      .union([z.literal(true), decimalAmountSchema], { error: 'must be an amount, such as 900 or 899.50' })
      .optional(),
    isValueOptional: true,
  },
  yes: switchOption(
    'Do it without asking for confirmation. This needs --ends-at: without it, the command only shows what would be done. With --refund, both are required',
  ),
} as const;

const findSubscription = (operator: Operator, id: string) => operator.call('subscription', { id });
type ShownSubscription = Awaited<ReturnType<typeof findSubscription>>;

export const SUBSCRIPTION_COMMANDS = [
  listCommand({
    usage: 'subscription list',
    about: 'List the subscriptions, newest first.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      state: choiceOption('Only subscriptions in this state', SUBSCRIPTION_STATES),
      wallet: filterOption('Only the subscription of this wallet', walletSchema),
      number: filterOption('Only the subscription of this number', numberSchema),
      node: filterOption('Only subscriptions whose number this node serves', nodeSchema),
      ...CARRIER_OPTION,
      ...timeOptions('created'),
      ...findOption('an id, number, wallet, label, ICCID, IMEI or slot'),
      ...sortOptions(SUBSCRIPTIONS),
      after: filterOption('Continue after this subscription', subscriptionIdSchema),
    },
    listing: SUBSCRIPTIONS,
    read(operator, { state, wallet, number, node, carrier, since, until, find, after, limit, ...given }) {
      const filters = { state, wallet, number, node, carrier, since, until, find };
      return operator.call('subscriptions', { ...filters, sort: sortOf(given), after, limit });
    },
  }),
  operatorCommand({
    usage: 'subscription show <id>',
    about: 'Show one subscription with its payments and their refunds.',
    options: { json: JSON_OPTION },
    async run(operator, { json }, [text]) {
      const subscription = await findSubscription(operator, checked('id', subscriptionIdSchema, text));
      return json ? toJson(subscription) : shownSubscription(subscription);
    },
  }),
  operatorCommand({
    usage: 'subscription reassign <id>',
    about:
      'Give a subscription another number. Its texts and calls stay; the former number is out of service.',
    options: {
      to: filterOption('The new number; without it, any that can be sold', numberSchema),
      from: filterOption(
        'Only if the subscription has this number: a script that runs twice changes nothing the second time',
        numberSchema,
      ),
      ...REASON_OPTION,
      ...AGREED_OPTION,
    },
    async run(operator, { to, from, reason, yes }, [text]) {
      const id = checked('id', subscriptionIdSchema, text);
      const asked = { id, number: from, to, reason };
      const shown = yes ? undefined : await operator.call('previewReassign', asked);
      if (shown !== undefined)
        await agree(
          `${id} gets ${shown.to} in place of ${maskedNumber(shown.from)}, for good\n${maskedNumber(shown.from)} is out of service then, and in quarantine for ${REASSIGNED_QUARANTINE_DAYS} days`,
          yes,
        );
      const numbers = await operator.call('reassignNumber', {
        ...asked,
        ...(shown && { to: shown.to, number: shown.from }),
      });
      return `${id} has the number ${numbers.to} now; ${numbers.from} is out of service`;
    },
  }),
  operatorCommand({
    usage: 'subscription extend <id>',
    about: 'Add days to a subscription, as goodwill.',
    options: {
      days: { about: 'Days to add', schema: optionalInteger(1, DAYS_MAX) },
      ...ENDS_AT_OPTION,
      ...REASON_OPTION,
      ...AGREED_OPTION,
    },
    async run(operator, { days, endsAt, reason, yes }, [text]) {
      const id = checked('id', subscriptionIdSchema, text);
      const { number, expires_at } = await findSubscription(operator, id);
      const { refuseOtherEnd } = await import('../end-subscription.ts');
      refuseOtherEnd({ id, expires_at }, endsAt);
      const extension = { id, expires_at, days, reason };
      const shown = yes ? undefined : await operator.call('previewExtend', extension);
      if (shown !== undefined)
        await agree(
          `${id} (${maskedNumber(number)}), which ends at ${timeOrDash(expires_at)}, ends ${days} ${days === 1 ? 'day' : 'days'} later, at ${timeOrDash(shown.expires_at)}, without a payment`,
          yes,
        );
      const { expires_at: end } = await operator.call('extendSubscription', extension);
      return `${id} ends at ${timeOrDash(end)}`;
    },
  }),
  operatorCommand({
    usage: 'subscription end <id>',
    about:
      'End a subscription now, and keep its number for the grace time. If the chain reverted some of its payments, remove only the years that they bought. With --refund, send money back to the payer.',
    options: END_OPTIONS,
    async run(operator, { endsAt, refund, ...given }, [text]) {
      const id = checked('id', subscriptionIdSchema, text);
      const options = { ...withKey(given), clock: systemClock };
      const { endAndRefund, howToEnd, refuseOtherEnd } = await import('../end-subscription.ts');
      if (refund === undefined) {
        const seen = await findSubscription(operator, id);
        refuseOtherEnd(seen, endsAt);
        const ending = { id, expires_at: seen.expires_at, reason: options.reason };
        const loss = `${id} (${maskedNumber(seen.number)}) ${lossOf(seen)}; nothing is refunded`;
        // A yes is to one end: a script that runs again after a renewal would end the new year.
        const isOfThisEnd = options.yes && endsAt !== undefined;
        if (!isOfThisEnd) await operator.call('previewEnd', ending);
        if (!isOfThisEnd && (options.yes || !process.stdin.isTTY)) {
          showPreview(loss);
          throw new OperatorRefusal(howToEnd(seen));
        }
        await agree(loss, isOfThisEnd);
        const { expires_at: end } = await operator.call('endSubscription', ending);
        return Date.parse(end) > Date.now() ? `${id} ends at ${timeOrDash(end)}` : `${id} has ended`;
      }
      const amount = refund === true ? undefined : refund;
      const onNote = (text: string): void => void process.stderr.write(`${onLines(text)}\n`);
      return endAndRefund(operator, { id, amount, endsAt }, { ...options, onPreview: showPreview, onNote });
    },
  }),
];

/** The years or the time that the customer loses by an end now. */
function lossOf({ payments, expires_at: end }: ShownSubscription): string {
  const reverted = payments.filter(({ state }) => state === 'taken_back').map(({ id }) => id);
  if (reverted.length === 0) return `ends now, in place of ${timeOrDash(end)}`;
  const years = reverted.length === 1 ? 'the year' : `the ${reverted.length} years`;
  return `loses ${years} that the chain took back (${reverted.join(', ')}), and nothing else; it ends at ${timeOrDash(end)} before that`;
}

/** With the whole wallet: an operator who asks for one subscription answers its subscriber. */
function shownSubscription({ payments, ...row }: ShownSubscription): string {
  const facts: Array<[string, string]> = [
    ['subscription', row.id],
    ['state', Date.parse(row.expires_at) > Date.now() ? row.service : 'expired'],
    ['number', row.number],
    ['wallet', getAddress(row.wallet)],
    ['since', timeOrDash(row.created_at)],
    ['until', timeOrDash(row.expires_at)],
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  const paid = alignedTable(
    ['PAYMENT', 'STATE', 'VALUE', 'REFUND', 'REFUND TRANSACTION'],
    payments.map((payment) => [
      payment.id,
      payment.state,
      shownValue(payment),
      shownRefund(payment) ?? '-',
      payment.refund_hash ?? '-',
    ]),
  );
  return `${facts.map(([name, fact]) => `${name.padEnd(width)}  ${fact}`).join('\n')}\n\n${paid}`;
}
