// Requests of operators for nodes whose link is at another instance: one instance leaves them here, the other takes and answers them.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface OperatorRequest {
  id: string;
  call: string;
  input: unknown;
}

/** The answer, or why the request was refused; undefined while there is none. */
type RequestAnswer = { answer: unknown } | { refusal: string } | undefined;

/** Times of the database: a command and the service may run on hosts whose clocks differ. */
const NOW = sql<Date>`clock_timestamp()`;

/** Leaves a request for the instance that has the node's link, for `takeMs`; returns its id. */
export async function leaveRequest(
  db: Database,
  request: { node: string; call: string; input: unknown; takeMs: number },
): Promise<string> {
  const id = randomUUID();
  const { node, call, input, takeMs } = request;
  const until = sql<Date>`clock_timestamp() + make_interval(secs => ${takeMs / 1000}::float8)`;
  await db
    .insertInto('operator_requests')
    .values({ id, node_id: node, call, input: JSON.stringify(input), until })
    .execute();
  return id;
}

/** Takes the requests for a node that have not expired; no other instance gets them. */
export async function takeRequests(db: Database, node: string): Promise<OperatorRequest[]> {
  return db
    .updateTable('operator_requests')
    .set({ taken_at: NOW })
    .where('node_id', '=', node)
    .where('taken_at', 'is', null)
    .where('until', '>', NOW)
    .returning(['id', 'call', 'input'])
    .execute();
}

export async function answerRequest(
  db: Database,
  id: string,
  answered: { answer: unknown } | { refusal: string },
): Promise<void> {
  const change =
    'answer' in answered ? { answer: JSON.stringify(answered.answer) } : { refusal: answered.refusal };
  await db
    .updateTable('operator_requests')
    .set({ ...change, answered_at: NOW })
    .where('id', '=', id)
    .execute();
}

export async function findAnswer(db: Database, id: string): Promise<RequestAnswer> {
  const row = await db
    .selectFrom('operator_requests')
    .select(['answer', 'refusal'])
    .where('id', '=', id)
    .where('answered_at', 'is not', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return row.refusal === null ? { answer: row.answer } : { refusal: row.refusal };
}

/** Withdraws a request. False when an instance has taken it. */
export async function withdrawRequest(db: Database, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('operator_requests')
    .where('id', '=', id)
    .where('taken_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** By then the caller has its answer, or no longer waits. */
export async function deleteOldRequests(db: Database): Promise<void> {
  await db
    .deleteFrom('operator_requests')
    .where('until', '<', sql<Date>`clock_timestamp() - interval '1 minute'`)
    .execute();
}

/** Whether there is such a node, and whether any instance has its link. */
export async function nodeStanding(
  db: Database,
  node: string,
  now: Date,
): Promise<'unknown' | 'away' | 'linked'> {
  const row = await db
    .selectFrom('nodes')
    .select(sql<boolean>`coalesce(link_alive_until > ${now}::timestamptz, false)`.as('isLinked'))
    .where('id', '=', node)
    .executeTakeFirst();
  if (row === undefined) return 'unknown';
  return row.isLinked ? 'linked' : 'away';
}
