// Removes what left the fleet: revoked nodes, and empty slots that no node reports any more.
import { sql } from 'kysely';
import * as z from 'zod';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { maskedNumber } from '../../domain/shown-value.ts';
import { type Database, inTransaction } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import { naturalOrder } from '../database/sorted-page.ts';
import { lockNode } from './nodes.ts';
import { type SlotPlace, slotPlaceSchema } from './slot-service.ts';
import { SLOT_ROWS } from './slots.ts';
import { SERVICE_ROWS } from './sold-numbers.ts';

/** A node without a link for this long is not just restarting. */
const OLD_AFTER_MS = 24 * 60 * 60_000;

export const prunableSchema = z.object({
  /** Revoked, and without a subscription. */
  nodes: z.array(z.string()),
  /** Empty slots of nodes that are away, except those that are out of service: the mark would be lost. */
  slots: z.array(slotPlaceSchema),
});
type Prunable = z.output<typeof prunableSchema>;

/**
 * Removes a revoked node with its slots, events and samples. Its audit entries, its probes and the positions of its journals stay: if it is
 * enrolled again, none of its facts counts twice. Throws `OperatorRefusal`.
 */
export async function removeNode(db: Database, node: string, now: Date): Promise<void> {
  await inTransaction(db, async (trx) => {
    const row = await lockNode(trx, node);
    if (row === undefined) throw new OperatorRefusal(`There is no node "${node}".`);
    if (row.revoked_at === null)
      throw new OperatorRefusal(
        `${node} is not revoked. Run "${ownCommand('control-plane')} node revoke ${node}" first.`,
      );
    const [sold, ...more] = await subscribedOn(trx, node, now);
    if (sold !== undefined)
      throw new OperatorRefusal(
        `SIMs of ${node} hold ${more.length + 1} ${more.length === 0 ? 'subscription' : 'subscriptions'} (${maskedNumber(sold)}${more.length === 0 ? '' : ' …'}). Move the SIMs to another node, or give the subscribers other numbers.`,
      );
    await deleteNodes(trx, [node]);
  });
}

/** Numbers with a subscription, paid or in its grace time, that the node served last. */
async function subscribedOn(db: Database, node: string, now: Date): Promise<string[]> {
  const { rows } = await sql<{ number: string }>`
    select subscriptions.number from subscriptions
    join ${SERVICE_ROWS(now)} as service on subscription_id = subscriptions.id
    where node = ${node} order by 1`.execute(db);
  return rows.map(({ number }) => number);
}

async function deleteNodes(trx: Database, nodes: readonly string[]): Promise<void> {
  await sql`delete from node_events where node_id = ${anyOf(nodes)}`.execute(trx);
  await sql`delete from node_samples where node_id = ${anyOf(nodes)}`.execute(trx);
  await sql`delete from nodes where id = ${anyOf(nodes)}`.execute(trx);
}

/** The nodes and slots that `prune` would remove now. */
export async function findPrunable(db: Database, now: Date): Promise<Prunable> {
  const old = new Date(now.getTime() - OLD_AFTER_MS);
  const nodes = await sql<{ id: string }>`
    select id from nodes where revoked_at is not null and not exists (
      select from ${SERVICE_ROWS(now)} as service where service.node = nodes.id) order by id`.execute(db);
  const slots = await sql<SlotPlace>`
    select slots.node, slots.slot from (${SLOT_ROWS}) as slots join nodes on nodes.id = slots.node
    where slots.reported_iccid is null and slots.iccid is null and slots.state <> 'registered'
      and nodes.revoked_at is null and slots.out_of_service_at is null
      and (nodes.link_alive_until is null or nodes.link_alive_until < ${old}::timestamptz)
      and not exists (select from ${SERVICE_ROWS(now)} as service
        where service.node = slots.node and service.slot = slots.slot)
    order by ${naturalOrder('slots.node')}, ${naturalOrder('slots.slot')}, slots.node, slots.slot`.execute(
    db,
  );
  return { nodes: nodes.rows.map(({ id }) => id), slots: slots.rows };
}

/** Removes it and returns it. A slot that its node reports later is listed again. */
export async function prune(db: Database, now: Date): Promise<Prunable> {
  return inTransaction(db, async (trx) => {
    // No node is enrolled or linked again meanwhile.
    await sql`select from nodes order by id for update`.execute(trx);
    const { nodes, slots } = await findPrunable(trx, now);
    await deleteNodes(trx, nodes);
    const places = sql`select * from unnest(
      ${slots.map(({ node }) => node)}::text[], ${slots.map(({ slot }) => slot)}::text[])`;
    await sql`delete from slots where (node_id, slot) in (${places})`.execute(trx);
    // A mark that was made meanwhile stays.
    await sql`delete from slot_service where (node_id, slot) in (${places}) and out_of_service_at is null`.execute(
      trx,
    );
    return { nodes, slots };
  });
}
