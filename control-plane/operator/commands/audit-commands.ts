// `control-plane audit list`: who asked for which change, and what came of it.
import * as z from 'zod';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import { withMaskedNumbers } from '../../domain/masked-number.ts';
import type { AuditRow } from '../../store/operations/audit-log.ts';
import type { Told } from '../desk-answers.ts';
import {
  FULL_OPTION,
  filterOption,
  LIST_OPTIONS,
  shownPage,
  shownTime,
  WHERE,
  withOperator,
} from './where.ts';

export const AUDIT_COMMANDS = [
  programCommand({
    usage: 'audit list',
    about: 'List the changes by operators and probes, newest first.',
    options: {
      ...WHERE,
      ...LIST_OPTIONS,
      full: FULL_OPTION,
      after: filterOption(
        'Continue after this entry',
        z
          .string()
          .regex(/^[1-9]\d{0,14}$/, 'must be the number of an entry')
          .transform(Number),
      ),
    },
    run: ({ after, limit, json, full, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const { rows, next } = await desk.ask('auditLog', { after, limit });
        const shown = full ? rows : rows.map(masked);
        if (json) return toJson({ audit_log: shown, next });
        const table = alignedTable(
          ['AT', 'ACTOR', 'ACTION', 'SUBJECT', 'RESULT', ''],
          shown.map(({ at, actor, action, subject, result, why, detail }) => [
            shownTime(at),
            actor,
            action,
            subject,
            result,
            why ?? (Object.keys(detail).length === 0 ? '' : JSON.stringify(detail)),
          ]),
        );
        return shownPage(table, next === null ? null : String(next));
      }),
  }),
];

/** Numbers may stand in what was refused, too. */
const masked = (row: Told<AuditRow>): Told<AuditRow> =>
  JSON.parse(withMaskedNumbers(JSON.stringify(row))) as Told<AuditRow>;
