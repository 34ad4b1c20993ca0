// Slots in and out of service. The number of a SIM in a slot out of service is not sold, but a current subscriber keeps it.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { voiceSettingsSchema } from '#shared/link/slot.ts';
import { SLOT_LIST_STATES } from '#shared/operator/slot-health.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import {
  allOf,
  contains,
  naturalOrder,
  readPage,
  type Sort,
  sortedPage,
  textOrder,
  timeOrder,
} from '../database/sorted-page.ts';
import { HAS_NO_JOURNAL, SLOT_ROWS } from './slots.ts';

export const slotPlaceSchema = z.object({
  node: z.string(),
  slot: z.string(),
});
export type SlotPlace = z.output<typeof slotPlaceSchema>;

/** A slot, the SIM in it, and whether its number may be sold. */
export const slotRowSchema = slotPlaceSchema.extend({
  /** From its node's last report; `node_away` if the node is not linked, `journal_unavailable` if only the journal of the node fails. */
  state: z.enum(SLOT_LIST_STATES),
  /** Why it is not registered. */
  trouble: z.string().nullable(),
  carrier: z.string().nullable(),
  number: z.string().nullable(),
  /** The operator's name for the card in it. */
  label: z.string().nullable(),
  /** The number has a subscriber. */
  is_held: z.boolean(),
  /** An operator took the number out of service, in whichever slot its SIM is. */
  is_number_out: z.boolean(),
  number_out_at: timeOutput.nullable(),
  number_out_reason: z.string().nullable(),
  model: z.string().nullable(),
  /** The reported SIM, even if another node holds it. */
  iccid: z.string().nullable(),
  /** IMEI of the modem, if its node holds the SIM. */
  imei: z.string().nullable(),
  /** Null if its daemon knows none for this modem and network. */
  voice_settings: voiceSettingsSchema.nullable(),
  out_of_service_at: timeOutput.nullable(),
  reason: z.string().nullable(),
  by: z.enum(['operator', 'probe']).nullable(),
});
export type SlotRow = z.output<typeof slotRowSchema>;

/** The columns that slots can be sorted by. */
export const SLOT_SORTS = {
  slot: naturalOrder('listed.slot'),
  state: textOrder('state'),
  number: textOrder('number'),
  label: textOrder('label'),
  carrier: textOrder('carrier'),
  out_of_service_at: timeOrder('out_at'),
  reason: textOrder('why'),
  iccid: textOrder('iccid'),
  imei: textOrder('imei'),
  // Those that differ come first.
  calls_set_up: sql`coalesce(listed.voice_settings ->> 'state', 'unknown')`,
};

interface SlotQuery {
  node?: string | undefined;
  /** Its whole name. */
  slot?: string | undefined;
  state?: string | undefined;
  /** As modems report them. */
  carriers?: readonly string[] | undefined;
  /** Part of a slot, node, number, label, ICCID, IMEI or of the wallet that has the number. */
  find?: string | undefined;
  sort?: Sort<keyof typeof SLOT_SORTS> | undefined;
  after?: SlotPlace | undefined;
  limit: number;
}

/** Sorted by node and slot unless `sort` is given; one more than `limit` when there are more. */
export async function listSlots(db: Database, query: SlotQuery, now: Date): Promise<SlotRow[]> {
  const { node, slot, state, carriers, find, sort, after, limit } = query;
  const page = sortedPage({
    key: ['node', 'slot'],
    isNatural: true,
    sorts: SLOT_SORTS,
    sort,
    after: after && [after.node, after.slot],
  });
  return readPage(page, async (where) => {
    const { rows } = await sql<SlotRow>`
    with listed as (
      select slots.node, slots.slot,
        case when nodes.link_alive_until is null or nodes.link_alive_until <= ${now}::timestamptz then 'node_away'
          when slots.state = 'registered' and ${HAS_NO_JOURNAL} then 'journal_unavailable' else slots.state end as state,
        slots.trouble, slots.carrier, numbers.number, cards.label, slots.model, slots.voice_settings, slots.reported_iccid as iccid, slots.device_id as imei,
        subscriptions.wallet, subscriptions.id is not null as is_held,
        numbers.out_of_service_at is not null as is_number_out,
        numbers.out_of_service_at as number_out_at, numbers.out_of_service_reason as number_out_reason,
        coalesce(slots.out_of_service_at, numbers.out_of_service_at) as out_at, coalesce(slots.reason, numbers.out_of_service_reason) as why,
        slots.out_of_service_at, slots.reason, slots.by
      from (${SLOT_ROWS}) as slots
      join nodes on nodes.id = slots.node
      left join numbers on numbers.iccid = slots.iccid and numbers.retired_at is null
      left join subscriptions on subscriptions.number = numbers.number
      left join cards on cards.iccid = slots.reported_iccid
    )
    select node, slot, state, trouble, carrier, number, label, is_held, is_number_out, number_out_at, number_out_reason, model, iccid, imei, voice_settings, out_of_service_at, reason, by
    from listed where ${where} and ${allOf([
      node === undefined ? undefined : sql<boolean>`node = ${node}`,
      slot === undefined ? undefined : sql<boolean>`slot = ${slot}`,
      state === undefined ? undefined : sql<boolean>`state = ${state}`,
      carriers === undefined ? undefined : sql<boolean>`carrier = ${anyOf(carriers)}`,
      find === undefined
        ? undefined
        : contains(['node', 'slot', 'number', 'label', 'iccid', 'imei', 'wallet'], find),
    ])} order by ${page.order} limit ${limit + 1}`.execute(db);
    return rows;
  });
}

export async function findSlot(db: Database, place: SlotPlace, now: Date): Promise<SlotRow | undefined> {
  const [row] = await listSlots(db, { ...place, limit: 1 }, now);
  return row;
}

/**
 * Takes a slot out of service. A probe does so only if the slot is in service: it never overrides an operator. Throws `OperatorRefusal` for
 * a slot that no node has reported.
 */
export async function takeSlotOutOfService(
  db: Database,
  { node, slot, reason, by, now }: SlotPlace & { reason: string; by: 'operator' | 'probe'; now: Date },
): Promise<void> {
  await refuseUnknown(db, { node, slot });
  await db
    .insertInto('slot_service')
    .values({ node_id: node, slot, out_of_service_at: now, reason, by })
    .onConflict((conflict) =>
      conflict
        .columns(['node_id', 'slot'])
        .doUpdateSet({ out_of_service_at: now, reason, by })
        .where((eb) => (by === 'probe' ? eb('slot_service.out_of_service_at', 'is', null) : eb.lit(true))),
    )
    .execute();
}

/**
 * Puts a slot back in service; it may be in service already. With `by`, only if that actor took it out of service. Earlier probes no
 * longer count. Throws `OperatorRefusal` for a slot that no node has reported.
 */
export async function putSlotInService(
  db: Database,
  { node, slot, by, now }: SlotPlace & { by?: 'probe'; now: Date },
): Promise<void> {
  await refuseUnknown(db, { node, slot });
  await db
    .updateTable('slot_service')
    .set({ out_of_service_at: null, reason: null, by: null, judged_from: now })
    .where('node_id', '=', node)
    .where('slot', '=', slot)
    .where('out_of_service_at', 'is not', null)
    .$if(by !== undefined, (query) => query.where('by', '=', by as 'probe'))
    .execute();
}

export async function refuseUnknown(db: Database, { node, slot }: SlotPlace): Promise<void> {
  const { rows } = await sql<{ is_node: boolean; is_slot: boolean }>`
    select exists (select from nodes where id = ${node}) as is_node,
      exists (select from (${SLOT_ROWS}) as slots where node = ${node} and slot = ${slot}) as is_slot`.execute(
    db,
  );
  const [known] = rows;
  if (known?.is_node !== true) throw new OperatorRefusal(`There is no node "${node}".`);
  if (!known.is_slot)
    throw new OperatorRefusal(
      `${node} has not reported a slot "${slot}". See "${ownCommand('control-plane')} slot list".`,
    );
}
