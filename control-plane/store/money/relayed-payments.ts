// Payments by the relayer that sent them: what a former relayer has still to finish.
import { sql } from 'kysely';
import * as z from 'zod';
import type { Database } from '../database/database.ts';

/** The payments that one account of a relayer sent on a chain. */
export const relayedPaymentsSchema = z.object({
  chainId: z.number(),
  /** In lower case. */
  sender: z.string(),
  inFlight: z.number(),
  /** Applied, but a reorganization can still revert their transfers: they may have to be sent again. */
  notFinal: z.number(),
});
export type RelayedPayments = z.output<typeof relayedPaymentsSchema>;

/** Accounts without such payments are left out. `before`: only payments that have not changed since. */
export async function countRelayed(db: Database, before?: Date): Promise<RelayedPayments[]> {
  return db
    .selectFrom('payments')
    .select([
      'chain_id as chainId',
      sql<string>`transaction_sender`.as('sender'),
      sql<number>`(count(*) filter (where state = 'in_flight'))::int`.as('inFlight'),
      sql<number>`(count(*) filter (where state = 'applied'))::int`.as('notFinal'),
    ])
    .where('transaction_sender', 'is not', null)
    .where(({ and, eb, or }) =>
      or([eb('state', '=', 'in_flight'), and([eb('state', '=', 'applied'), eb('final_at', 'is', null)])]),
    )
    .$if(before !== undefined, (query) => query.where('updated_at', '<', before as Date))
    .groupBy(['chain_id', 'transaction_sender'])
    .orderBy('chain_id')
    .orderBy('transaction_sender')
    .execute();
}
