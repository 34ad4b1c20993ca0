// `control-plane subscription …`: the subscribers, their numbers, until when; and the end of one.

import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { listedNumber } from '../../domain/masked-number.ts';
import { shownWallet } from '../../domain/masked-wallet.ts';
import { SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import { numberSchema, reasonSchema, subscriptionIdSchema, walletSchema } from '../desk-inputs.ts';
import {
  checked,
  choiceOption,
  FULL_OPTION,
  filterOption,
  LIST_OPTIONS,
  shownPage,
  shownTime,
  WHERE,
  withOperator,
} from './where.ts';

export const SUBSCRIPTION_COMMANDS = [
  programCommand({
    usage: 'subscription list',
    about: 'List the subscriptions, newest first.',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      state: choiceOption('Only those in this state', SUBSCRIPTION_STATES),
      wallet: filterOption('Only the one of this wallet', walletSchema),
      number: filterOption('Only the one of this number', numberSchema),
      after: filterOption('Continue after this subscription', subscriptionIdSchema),
    },
    run: ({ state, wallet, number, after, limit, json, full, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const query = { state, wallet, number, after, limit };
        const { rows, next } = await desk.ask('subscriptions', query);
        const shown = rows.map((row) => ({
          ...row,
          number: listedNumber(row.number, !full),
          wallet: shownWallet(row.wallet, full),
        }));
        if (json) return toJson({ subscriptions: shown, next });
        const table = alignedTable(
          ['SUBSCRIPTION', 'NUMBER', 'WALLET', 'SINCE', 'UNTIL', 'BOUND'],
          shown.map((row) => [
            row.id,
            row.number,
            row.wallet,
            shownTime(row.created_at),
            shownTime(row.expires_at),
            row.is_bound ? 'yes' : 'no',
          ]),
        );
        return shownPage(table, next);
      }),
  }),
  programCommand({
    usage: 'subscription end <id>',
    about:
      'End a subscription now and keep its number for the grace time. If the chain took payments back, take off only the years that they bought.',
    options: { ...WHERE, reason: { about: 'Reason, stored in the audit log', schema: reasonSchema } },
    run: ({ reason, ...where }, [text]) =>
      withOperator(where, async ({ desk }) => {
        const id = checked('id', subscriptionIdSchema, text);
        const { expires_at: end } = await desk.ask('endSubscription', { id, reason });
        return Date.parse(end) > Date.now() ? `${id} ends at ${shownTime(end)}` : `${id} is over`;
      }),
  }),
];
