// Recipients that stopped the texts of a subscription. Each subscription has its own; they end with it.
import { sql } from 'kysely';
import { type OptOutType, optOutKeywordOf, peerKeyOf } from '../../domain/opt-out.ts';
import type { DatabaseTransaction } from '../database/database.ts';

/** A stored message that was received. */
interface StoredText {
  id: number;
  subscriptionId: string;
  from: string;
  body: string;
  /** When the service center received it; else when the node read it. Never in the future. */
  at: Date;
}

/** Carries out the keywords of texts, in their order, and notes on each message what it did. */
export async function applyOptOuts(trx: DatabaseTransaction, texts: readonly StoredText[]): Promise<void> {
  for (const text of texts) {
    const keyword = optOutKeywordOf(text.body);
    if (keyword === undefined) continue;
    const type = keyword === 'yes' ? 'start' : keyword;
    if (keyword === 'yes' && !(await isOptedOut(trx, text))) continue;
    await change(trx, text, type);
    await trx.updateTable('messages').set({ opt_out_type: type }).where('id', '=', text.id).execute();
  }
}

/** The row stays after `start`, so that an older `stop` that is delivered later changes nothing. */
async function change(
  trx: DatabaseTransaction,
  { at, from, subscriptionId }: StoredText,
  type: OptOutType,
): Promise<void> {
  await sql`
    insert into opt_outs (subscription_id, peer, is_opted_out, changed_at)
    values (${subscriptionId}, ${peerKeyOf(from)}, ${type === 'stop'}, ${at}::timestamptz)
    on conflict (subscription_id, peer) do update
    set is_opted_out = excluded.is_opted_out, changed_at = excluded.changed_at
    where excluded.changed_at >= opt_outs.changed_at`.execute(trx);
}

/** Locks the row: another instance may be committing a keyword of the same sender. */
async function isOptedOut(trx: DatabaseTransaction, { from, subscriptionId }: StoredText): Promise<boolean> {
  const row = await trx
    .selectFrom('opt_outs')
    .select('is_opted_out')
    .where('subscription_id', '=', subscriptionId)
    .where('peer', '=', peerKeyOf(from))
    .forUpdate()
    .executeTakeFirst();
  return row?.is_opted_out === true;
}
