// The audit log: who asked for which change, when, and with what result. Rows are only added, and completed with their result.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import type { Database } from '../database/database.ts';
import { AUDIT_RESULTS, type AuditResult } from '../database/operation-tables.ts';
import { storableText } from '../database/reported-values.ts';
import { allOf, contains, readPage, type Sort, sortedPage, textOrder } from '../database/sorted-page.ts';

export const auditRowSchema = z.object({
  id: z.number(),
  at: timeOutput,
  actor: z.string(),
  action: z.string(),
  subject: z.string(),
  detail: z.record(z.string(), z.unknown()),
  result: z.enum(AUDIT_RESULTS),
  why: z.string().nullable(),
});
export type AuditRow = z.output<typeof auditRowSchema>;
export type AuditEntry = Omit<AuditRow, 'id' | 'why'> & { why?: string | undefined };

/** Adds an entry, and returns its id. */
export async function insertAudit(db: Database, entry: AuditEntry): Promise<number> {
  const row = await db
    .insertInto('audit_log')
    .values({
      at: entry.at,
      actor: entry.actor,
      action: entry.action,
      result: entry.result,
      subject: storableText(entry.subject),
      detail: JSON.stringify(entry.detail),
      why: entry.why === undefined ? null : storableText(entry.why),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Records the result of an entry that was begun. */
export async function endAudit(
  db: Database,
  id: number,
  { result, why }: { result: AuditResult; why?: string | undefined },
): Promise<void> {
  await db
    .updateTable('audit_log')
    .set({ result, why: why === undefined ? null : storableText(why) })
    .where('id', '=', id)
    .execute();
}

/** The columns that the audit log can be sorted by. */
export const AUDIT_SORTS = {
  at: sql`listed.at`,
  actor: textOrder('actor'),
  action: textOrder('action'),
  subject: textOrder('subject'),
  result: textOrder('result'),
};

/** "startRefund" as lists show it: "start refund". */
const ACTION_WORDS = sql`regexp_replace(listed.action, '([A-Z])', ' \\1', 'g')`;

interface AuditQuery {
  actor?: string | undefined;
  result?: AuditResult | undefined;
  /** Entries about this node or one of its slots. */
  node?: string | undefined;
  /** At this time or later, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
  /** Part of the action, the subject, the detail or the reason. */
  find?: string | undefined;
  sort?: Sort<keyof typeof AUDIT_SORTS> | undefined;
  /** The id of the last row of the previous page. */
  after?: number | undefined;
  limit: number;
}

/** Newest first unless `sort` is given; one more than `limit` when there are more. */
export async function listAudit(db: Database, query: AuditQuery): Promise<AuditRow[]> {
  const { actor, result, node, since, until, find, sort, after, limit } = query;
  const page = sortedPage({
    key: ['id'],
    sorts: AUDIT_SORTS,
    sort,
    isNewestFirst: true,
    after: after === undefined ? undefined : [after],
    source: sql`audit_log as listed`,
  });
  return readPage(page, (where) =>
    db
      .selectFrom('audit_log as listed')
      .selectAll()
      .where(where)
      .where(
        allOf([
          actor === undefined ? undefined : sql<boolean>`listed.actor = ${actor}`,
          result === undefined ? undefined : sql<boolean>`listed.result = ${result}`,
          node === undefined
            ? undefined
            : sql<boolean>`(listed.subject = ${node} or starts_with(listed.subject, ${`${node}/`}))`,
          since === undefined ? undefined : sql<boolean>`listed.at >= ${since}::timestamptz`,
          until === undefined ? undefined : sql<boolean>`listed.at < ${until}::timestamptz`,
          find === undefined
            ? undefined
            : sql<boolean>`(${contains(['subject', 'detail', 'why', 'action'], find)} or strpos(lower(${ACTION_WORDS}), ${find.toLowerCase()}) > 0)`,
        ]),
      )
      .orderBy(page.order)
      .limit(limit + 1)
      .execute(),
  );
}
