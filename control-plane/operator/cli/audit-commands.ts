// `control-plane audit list`: the changes that operators asked for, and their results.
import { AUDIT_LOG } from '../listings/audit-log.ts';
import { AFTER_POSITION, FULL_OPTION, LIMIT_OPTION, listCommand } from './operator-command.ts';

export const AUDIT_COMMANDS = [
  listCommand({
    usage: 'audit list',
    about: 'List the changes by operators and probes, newest first.',
    options: { ...LIMIT_OPTION, ...FULL_OPTION, after: AFTER_POSITION },
    listing: AUDIT_LOG,
    read: (operator, { after, limit }) => operator.call('auditLog', { after, limit }),
  }),
];
