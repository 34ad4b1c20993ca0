// `control-plane report …`: what the SIMs cost and earn, and how the texts of subscribers end.
import * as z from 'zod';
import { iccidSchema } from '#shared/identities.ts';
import { COST_GROUPS, COSTS } from '../listings/costs.ts';
import { TRAFFIC, TRAFFIC_GROUPS } from '../listings/traffic.ts';
import { hoursSchema, monthSchema, nodeSchema } from '../procedures/fields.ts';
import {
  CARRIER_OPTION,
  FORM_OPTIONS,
  findOption,
  LIMIT_OPTION,
  printedList,
  sortOf,
  sortOptions,
} from './list-command.ts';
import { choiceOption, FULL_OPTION, filterOption, operatorCommand } from './operator-command.ts';

const SIM_OPTIONS = {
  ...LIMIT_OPTION,
  ...FULL_OPTION,
  month: filterOption('The month, such as 2026-11; without it, the current one', monthSchema),
  node: filterOption('Only SIMs of this node', nodeSchema),
  ...findOption('an ICCID, number, label, plan or carrier'),
  after: filterOption('Continue after this ICCID, the last one of the previous page', iccidSchema),
};
const BY = ['sim', 'node', 'carrier'] as const;
const TRAFFIC_OPTIONS = {
  ...LIMIT_OPTION,
  hours: filterOption('How many hours back, up to 192 (default 24)', hoursSchema),
  node: filterOption('Only texts of this node', nodeSchema),
  ...CARRIER_OPTION,
  ...sortOptions(...Object.values(TRAFFIC)),
  after: filterOption('Continue after this row, the last one of the previous page', z.string().max(100)),
};
const GROUP_OPTIONS = { month: SIM_OPTIONS.month };

export const REPORT_COMMANDS = [
  operatorCommand({
    usage: 'report costs',
    about:
      'Show what SIMs cost and earn in a month, by SIM, node or carrier. For the current month, shows the whole month, including the days to come.',
    options: {
      ...FORM_OPTIONS,
      ...SIM_OPTIONS,
      by: choiceOption('One line for each of these (default sim)', BY),
    },
    run(operator, { by = 'sim', ...given }) {
      if (by === 'sim')
        return printedList(
          {
            listing: COSTS,
            options: SIM_OPTIONS,
            read: (_, { month, node, find, after, limit }) =>
              operator.call('costs', { month, node, find, after, limit }),
          },
          operator,
          given,
        );
      return printedList(
        {
          listing: COST_GROUPS[by],
          options: GROUP_OPTIONS,
          read: async (_, { month }) => ({ rows: await operator.call('costGroups', { month, by }) }),
        },
        operator,
        given,
      );
    },
  }),
  operatorCommand({
    usage: 'report traffic',
    about:
      'Show how the texts of subscribers ended, by carrier, node or slot: delivered, failed and why, and the time to the report. Probes are not counted.',
    options: {
      ...FORM_OPTIONS,
      ...TRAFFIC_OPTIONS,
      by: choiceOption('One line for each of these (default carrier)', TRAFFIC_GROUPS),
    },
    run(operator, { by = 'carrier', ...given }) {
      return printedList(
        {
          listing: TRAFFIC[by],
          options: TRAFFIC_OPTIONS,
          read: (_, { hours, node, carrier, after, limit, ...order }) =>
            operator.call('traffic', { by, hours, node, carrier, after, limit, sort: sortOf(order) }),
        },
        operator,
        given,
      );
    },
  }),
];
