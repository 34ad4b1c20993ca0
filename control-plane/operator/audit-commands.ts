// `control-plane audit list`: who asked for which change, and what came of it.
import { z } from 'zod';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { filterOption, LIST_OPTIONS, shownPage, shownTime, WHERE, withOperator } from './where.ts';

export const AUDIT_COMMANDS = [
  programCommand({
    usage: 'audit list',
    about: 'lists who changed what, newest first',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      after: filterOption(
        'the page behind this entry',
        z
          .string()
          .regex(/^[1-9]\d{0,14}$/, 'must be the number of an entry')
          .transform(Number),
      ),
    },
    run: ({ after, limit, json, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const { rows, next } = await desk.ask('auditLog', { after, limit });
        if (json) return JSON.stringify({ audit_log: rows, next });
        const table = alignedTable(
          ['AT', 'ACTOR', 'ACTION', 'SUBJECT', 'RESULT', ''],
          rows.map(({ at, actor, action, subject, result, why, detail }) => [
            ...[shownTime(at), actor, action, subject, result],
            why ?? (Object.keys(detail).length === 0 ? '' : JSON.stringify(detail)),
          ]),
        );
        return shownPage(table, next === null ? null : String(next));
      }),
  }),
];
