// `control-plane subscription …`: the list, another number, more days, and the end of one.

import { optionalInteger } from '#shared/process/options.ts';
import { SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import { SUBSCRIPTIONS } from '../listings/subscriptions.ts';
import {
  nodeSchema,
  numberSchema,
  reasonSchema,
  subscriptionIdSchema,
  walletSchema,
} from '../procedures/fields.ts';
import { DAYS_MAX } from '../procedures/subscriptions.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  LIMIT_OPTION,
  listCommand,
  operatorCommand,
  timeOrDash,
} from './operator-command.ts';

const REASON_OPTION = { reason: { about: 'Reason, stored in the audit log', schema: reasonSchema } };

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
      after: filterOption('Continue after this subscription', subscriptionIdSchema),
    },
    listing: SUBSCRIPTIONS,
    read: (operator, { state, wallet, number, node, after, limit }) =>
      operator.call('subscriptions', { state, wallet, number, node, after, limit }),
  }),
  operatorCommand({
    usage: 'subscription reassign <id>',
    about:
      'Give a subscription another number. Its texts and calls stay; the former number is out of service.',
    options: {
      to: filterOption('The new number; without it, any that can be sold', numberSchema),
      ...REASON_OPTION,
    },
    async run(operator, { to, reason }, [text]) {
      const id = checked('id', subscriptionIdSchema, text);
      const numbers = await operator.call('reassignNumber', { id, to, reason });
      return `${id} has the number ${numbers.to} now; ${numbers.from} is out of service`;
    },
  }),
  operatorCommand({
    usage: 'subscription extend <id>',
    about: 'Add days to a subscription, as goodwill.',
    options: {
      days: { about: 'Days to add', schema: optionalInteger(1, DAYS_MAX) },
      ...REASON_OPTION,
    },
    async run(operator, { days, reason }, [text]) {
      const id = checked('id', subscriptionIdSchema, text);
      const { expires_at: end } = await operator.call('extendSubscription', { id, days, reason });
      return `${id} ends at ${timeOrDash(end)}`;
    },
  }),
  operatorCommand({
    usage: 'subscription end <id>',
    about:
      'End a subscription now, and keep its number for the grace time. If the chain reverted some of its payments, remove only the years that they bought.',
    options: REASON_OPTION,
    async run(operator, { reason }, [text]) {
      const id = checked('id', subscriptionIdSchema, text);
      const { expires_at: end } = await operator.call('endSubscription', { id, reason });
      return Date.parse(end) > Date.now() ? `${id} ends at ${timeOrDash(end)}` : `${id} has ended`;
    },
  }),
];
