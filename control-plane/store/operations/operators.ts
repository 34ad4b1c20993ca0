// Operators that may sign in to the console, and their sessions. Hashes only.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import type { Database } from '../database/database.ts';

/** Per operator; one more sign-in ends the oldest session. */
const SESSIONS_MAX = 20;

export const operatorRowSchema = z.object({
  name: z.string(),
  created_at: timeOutput,
  /** Browsers that are signed in. */
  sessions: z.number(),
  used_at: timeOutput.nullable(),
});
export type OperatorRow = z.output<typeof operatorRowSchema>;

/** False when the name is taken. */
export async function insertOperator(
  db: Database,
  { name, keyHash, now }: { name: string; keyHash: Buffer; now: Date },
): Promise<boolean> {
  const row = await db
    .insertInto('operators')
    .values({ name, key_hash: keyHash, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Counts the sessions that have not ended by `SessionLimits`. */
export async function listOperators(db: Database, limits: SessionLimits): Promise<OperatorRow[]> {
  const { rows } = await sql<OperatorRow>`
    select name, operators.created_at, count(hash)::int as sessions, max(used_at) as used_at
    from operators left join operator_sessions on operator = name
      and used_at > ${limits.usedAfter} and operator_sessions.created_at > ${limits.createdAfter}
    group by name order by name`.execute(db);
  return rows;
}

/** Deletes an operator and his sessions. False when there is none of that name. */
export async function deleteOperator(db: Database, name: string): Promise<boolean> {
  const row = await db.deleteFrom('operators').where('name', '=', name).returning('name').executeTakeFirst();
  return row !== undefined;
}

/** Sessions that were last used, or that began, before these times are over. */
interface SessionLimits {
  usedAfter: Date;
  createdAfter: Date;
}

/** Keys of all operators, as `keyOfHash` writes them. */
export async function operatorKeys(db: Database): Promise<Set<string>> {
  const rows = await db.selectFrom('operators').select('key_hash').execute();
  return new Set(rows.map(({ key_hash: hash }) => keyOfHash(hash)));
}

/** Opens a session for the operator with this key, in one statement. Undefined when no operator has it. */
export async function openSession(
  db: Database,
  { keyHash, hash, now }: { keyHash: Buffer; hash: Buffer; now: Date },
): Promise<string | undefined> {
  // The index compares hashes of the key: the time it takes reveals nothing about the key.
  const { rows } = await sql<{ operator: string }>`
    with holder as (select name from operators where key_hash = ${keyHash}), ended as (
      delete from operator_sessions where hash in (
        select hash from operator_sessions, holder where operator = holder.name
        order by used_at desc offset ${SESSIONS_MAX - 1}
      )
    )
    insert into operator_sessions (hash, operator, created_at, used_at)
    select ${hash}, name, ${now}::timestamptz, ${now}::timestamptz from holder
    returning operator`.execute(db);
  return rows[0]?.operator;
}

interface OpenSession {
  operator: string;
  usedAt: Date;
}

export async function readSession(
  db: Database,
  hash: Buffer,
  { usedAfter, createdAfter }: SessionLimits,
): Promise<OpenSession | undefined> {
  return db
    .selectFrom('operator_sessions')
    .select(['operator', 'used_at as usedAt'])
    .where('hash', '=', hash)
    .where('used_at', '>', usedAfter)
    .where('created_at', '>', createdAfter)
    .executeTakeFirst();
}

export async function touchSession(db: Database, hash: Buffer, now: Date): Promise<void> {
  await db.updateTable('operator_sessions').set({ used_at: now }).where('hash', '=', hash).execute();
}

export async function endSession(db: Database, hash: Buffer): Promise<void> {
  await db.deleteFrom('operator_sessions').where('hash', '=', hash).execute();
}

/** Those of `hashes` whose session has not ended, as `keyOfHash` writes them. */
export async function openSessions(
  db: Database,
  hashes: readonly Buffer[],
  { usedAfter, createdAfter }: SessionLimits,
): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await db
    .selectFrom('operator_sessions')
    .select('hash')
    .where('hash', 'in', hashes)
    .where('used_at', '>', usedAfter)
    .where('created_at', '>', createdAfter)
    .execute();
  return new Set(rows.map(({ hash }) => keyOfHash(hash)));
}

export const keyOfHash = (hash: Buffer): string => hash.toString('base64url');

export async function deleteEndedSessions(db: Database, limits: SessionLimits): Promise<void> {
  await db
    .deleteFrom('operator_sessions')
    .where((eb) =>
      eb.or([eb('used_at', '<=', limits.usedAfter), eb('created_at', '<=', limits.createdAfter)]),
    )
    .execute();
}
