// `control-plane operator add | list | remove`: the people who may sign in to the console; `audit list`: the changes that they asked for.
import { AUDIT_RESULTS } from '../../store/database/operation-tables.ts';
import { AUDIT_LOG, AUDIT_STATUS } from '../listings/audit-log.ts';
import { OPERATORS } from '../listings/operators.ts';
import { actorSchema, nodeSchema, operatorNameSchema } from '../procedures/fields.ts';
import {
  AFTER_POSITION,
  findOption,
  LIMIT_OPTION,
  listCommand,
  sortOf,
  sortOptions,
  timeOptions,
} from './list-command.ts';
import { checked, choiceOption, FULL_OPTION, filterOption, operatorCommand } from './operator-command.ts';

const nameOf = ([text]: readonly string[]): string => checked('name', operatorNameSchema, text);

export const OPERATOR_COMMANDS = [
  operatorCommand({
    usage: 'operator add <name>',
    about: 'Create an operator and print the key for the console, once.',
    async run(operator, _, args) {
      const name = nameOf(args);
      const { key } = await operator.call('addOperator', { name });
      return `${key}\n\nThis is the key of ${name}. Store it now: the service keeps only its hash and cannot show it again.`;
    },
  }),
  listCommand({
    usage: 'operator list',
    about: 'List the operators of the console and their sessions.',
    listing: OPERATORS,
    read: async (operator) => ({ rows: await operator.call('operators', {}) }),
  }),
  operatorCommand({
    usage: 'operator remove <name>',
    about: 'Revoke the key of an operator and end all sessions at once.',
    async run(operator, _, args) {
      const name = nameOf(args);
      await operator.call('removeOperator', { name });
      return `${name} is removed: the key no longer works, and all sessions have ended`;
    },
  }),
];

export const AUDIT_COMMANDS = [
  listCommand({
    usage: 'audit list',
    about: 'List the changes by operators and probes, newest first.',
    options: {
      ...LIMIT_OPTION,
      ...FULL_OPTION,
      actor: filterOption('Only changes by this operator', actorSchema),
      result: choiceOption(
        'Only changes with this result',
        AUDIT_RESULTS,
        (result) => AUDIT_STATUS[result].words,
      ),
      node: filterOption('Only changes of this node and its slots', nodeSchema),
      ...timeOptions('made'),
      ...findOption('the action, the subject, the detail or the reason'),
      ...sortOptions(AUDIT_LOG),
      after: AFTER_POSITION,
    },
    listing: AUDIT_LOG,
    read(operator, { actor, result, node, since, until, find, after, limit, ...given }) {
      const filters = { actor, result, node, since, until, find };
      return operator.call('auditLog', { ...filters, sort: sortOf(given), after, limit });
    },
  }),
];
