// Numbers that nearly reached a sending limit, for the alerts of the operator.
import { sql } from 'kysely';
import type { SendingLimit } from '#shared/api/answers.ts';
import type { DatabaseTransaction } from '../database/database.ts';

/** A number that nearly used a limit is reported for this long. */
const WARNED_MS = 60 * 60_000;

/** More than an operator can read. */
const WARNINGS_MAX = 1_000;

export interface SendingWarning {
  subscriptionId: string;
  limit: SendingLimit;
  used: number;
  max: number;
}

/** Numbers that nearly or fully used a limit within the last hour. Of each number, the limit that is used most comes last. */
export async function findSendingWarnings(trx: DatabaseTransaction, now: Date): Promise<SendingWarning[]> {
  const { rows } = await sql<SendingWarning>`
    select subscription_id as "subscriptionId", sending_limit as "limit", used, max from sending_warnings
    where at > ${new Date(now.getTime() - WARNED_MS)}::timestamptz
    order by subscription_id, used::float / max limit ${WARNINGS_MAX}`.execute(trx);
  return rows;
}
