// The audit log: who asked for which change, when, and with what result. Rows are only added, and completed with their result.
import { type Database, storableText } from '../database/database.ts';
import type { AuditResult } from '../database/operation-tables.ts';

export interface AuditEntry {
  at: Date;
  actor: string;
  action: string;
  subject: string;
  detail: Record<string, unknown>;
  result: AuditResult;
  why?: string | undefined;
}

export interface AuditRow extends Omit<AuditEntry, 'why'> {
  id: number;
  why: string | null;
}

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

/** Newest first, entries before `after`; one more than `limit` when there are more. */
export async function listAudit(
  db: Database,
  { after, limit }: { after?: number | undefined; limit: number },
): Promise<AuditRow[]> {
  return db
    .selectFrom('audit_log')
    .selectAll()
    .$if(after !== undefined, (query) => query.where('id', '<', after as number))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
}
