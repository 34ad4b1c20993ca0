// PINs of the fleet file: which node gets one, and what the card answered.
//
//   untried ──a node gets it──► sent ──the card opens──► right ──the card refuses it──► wrong
//                                 └──────────the card refuses it, or must not be tried──────┘
import { sql } from 'kysely';
import { OperatorRefusal } from '../../domain/refusal.ts';
import type { Database } from '../database/database.ts';
import type { PinState } from '../database/sim-tables.ts';
import { type Card, cardOf } from '../fleet/number-move.ts';

/** A rack unlocks this many cards at a time. A node that invents cards gets no more PINs than this. */
const UNANSWERED_MAX = 8;
/** A node with this many refused PINs gets no more. */
const WRONG_MAX = 3;
/** PINs in a day for cards that the node may not have: no more than unknown SIMs in a day. */
const UNPROVEN_MAX = 96;
/** A node that has the PIN tries it within seconds. */
const AGAIN_MS = 30_000;
/** One that refused it has a reason that stays: a PIN in its own file, or a card that left. */
const REFUSED_AGAIN_MS = 3_600_000;

/** The reason of a card that waits for a PIN, and has got none from its node. */
const WAITS = 'sim_pin';
/** The node has the PIN, and will try it. */
const NOT_TRIED = [WAITS, 'journal_unavailable'];
/** An earlier PIN of the card failed: it waits for another one, or for `retry-pin`. */
const FAILED = ['sim_pin_wrong', 'sim_pin_unproved'];
/** A node that answers later than `AGAIN_MS` may still show that the card took the PIN. */
const LATE_MS = 600_000;

/** `cards.pin_reason`: the node refused the PIN, and did not try it. */
export const PIN_REFUSED = 'pin_refused';
/** `cards.pin_reason`: the service cannot open the PIN. */
export const PIN_UNREADABLE = 'pin_unreadable';

/** It is not proven that the card is at its holder. A number that only a node reported proves nothing. */
const IS_UNPROVEN = sql`(numbers.number is null or numbers.unproven is not null)`;

export interface WaitingPin {
  iccid: string;
  /** Sealed with the key of the service. */
  pin: string;
  /** The service could not open it before. */
  isUnreadable?: boolean;
}

/**
 * Cards that the node holds and that wait for a PIN that it may get. A PIN that no card has proved goes to one node only. Locks nothing:
 * `takePin` decides.
 */
export async function findWaitingPins(db: Database, nodeId: string, now: Date): Promise<WaitingPin[]> {
  const ago = (ms: number) => sql`${new Date(now.getTime() - ms)}::timestamptz`;
  const { rows } = await sql<WaitingPin & { isUntried: boolean; isKnown: boolean; isUnproven: boolean }>`
    select cards.iccid, cards.pin, cards.pin_state = 'untried' as "isUntried",
      cards.pin_node is not distinct from ${nodeId} as "isKnown",
      ${IS_UNPROVEN} as "isUnproven", cards.pin_reason is not distinct from ${PIN_UNREADABLE} as "isUnreadable"
    from sims join cards on cards.iccid = sims.iccid
    left join numbers on numbers.iccid = cards.iccid and numbers.retired_at is null
    where sims.node_id = ${nodeId} and sims.state = 'sim_locked' and cards.pin is not null
      and (sims.reason = ${WAITS} or (cards.pin_state = 'untried' and sims.reason = any (${FAILED}::text[])))
      and (cards.pin_state in ('untried', 'right') or (cards.pin_state = 'sent' and cards.pin_node = ${nodeId}))
      and (cards.pin_node is distinct from ${nodeId}
        or cards.pin_sent_at < case when cards.pin_reason = ${PIN_REFUSED} then ${ago(REFUSED_AGAIN_MS)} else ${ago(AGAIN_MS)} end)
    order by cards.pin_state = 'untried', "isUnreadable", cards.iccid`.execute(db);
  if (rows.length === 0) return [];
  const { unanswered, unproven, wrong } = await readPinCounts(db, nodeId, now);
  let room = wrong >= WRONG_MAX ? 0 : Math.max(0, UNANSWERED_MAX - unanswered);
  let unprovenRoom = Math.max(0, UNPROVEN_MAX - unproven);
  return rows.filter(({ isKnown, isUntried, isUnproven }) => {
    if (!isUntried || isKnown) return true;
    if (room === 0 || (isUnproven && unprovenRoom === 0)) return false;
    room -= 1;
    unprovenRoom -= isUnproven ? 1 : 0;
    return true;
  });
}

async function readPinCounts(
  db: Database,
  nodeId: string,
  now: Date,
): Promise<{ unanswered: number; wrong: number; unproven: number }> {
  const { rows } = await sql<{ unanswered: number; wrong: number; unproven: number }>`
    select count(*) filter (where pin_state in ('untried', 'sent'))::int as unanswered,
      count(*) filter (where pin_state = 'wrong')::int as wrong,
      count(*) filter (where pin_sent_at > ${now}::timestamptz - interval '1 day'
        and ${IS_UNPROVEN})::int as unproven
    from cards left join numbers on numbers.iccid = cards.iccid and numbers.retired_at is null
    where pin_node = ${nodeId}`.execute(db);
  return rows[0] ?? { unanswered: 0, wrong: 0, unproven: 0 };
}

/**
 * Records that the node gets the PIN, before it does. False if another node got it meanwhile, or the PIN was changed. Keeps the reason that
 * the node gave for an earlier PIN: `recordPinAnswers` must not take it for the answer to this one.
 */
export async function takePin(
  db: Database,
  { iccid, pin, nodeId, now }: WaitingPin & { nodeId: string; now: Date },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update cards set pin_state = case when pin_state = 'right' then 'right' else 'sent' end,
      pin_node = ${nodeId}, pin_sent_at = ${now}::timestamptz,
      pin_reason = (select nullif(reason, ${WAITS}) from sims where sims.iccid = cards.iccid)
    where iccid = ${iccid} and pin = ${pin}
      and (pin_state in ('untried', 'right') or (pin_state = 'sent' and pin_node = ${nodeId}))
      and exists (select from sims where sims.iccid = cards.iccid and sims.node_id = ${nodeId})`.execute(db);
  return numAffectedRows > 0n;
}

/**
 * The node refused the PIN, and did not try it, perhaps because the command came late; or it was not reached (`isRead` false). A refused PIN still counts as given to the node:
 * otherwise one that refuses each would learn all.
 */
export async function returnPin(
  db: Database,
  { iccid, isLate, isRead, nodeId, pin }: WaitingPin & { nodeId: string; isRead: boolean; isLate: boolean },
): Promise<void> {
  await sql`
    update cards set pin_state = 'untried', ${isRead ? sql`pin_reason = ${isLate ? null : PIN_REFUSED}` : sql`pin_node = null, pin_sent_at = null, pin_reason = null`}
    where iccid = ${iccid} and pin = ${pin} and pin_state = 'sent' and pin_node = ${nodeId}`.execute(db);
}

export async function notePinUnreadable(db: Database, iccid: string): Promise<void> {
  await sql`update cards set pin_reason = ${PIN_UNREADABLE} where iccid = ${iccid}`.execute(db);
}

/**
 * Records what the cards of a node answered, as its slots show it. The reason of an earlier PIN counts for this one only if it stays: the
 * node reports no second time that a card is locked. If the card opens after all, the PIN was right.
 */
export async function recordPinAnswers(db: Database, nodeId: string, now: Date): Promise<void> {
  const before = (ms: number) => sql`${new Date(now.getTime() - ms)}::timestamptz`;
  await sql`
    update cards set
      pin_state = case when sims.state = 'sim_locked' then 'wrong' else 'right' end,
      pin_reason = case when sims.state = 'sim_locked' then sims.reason end
    from sims
    where sims.iccid = cards.iccid and sims.node_id = ${nodeId} and cards.pin_node = ${nodeId}
      and ((sims.state in ('searching', 'denied', 'registered') and (cards.pin_state = 'sent'
          or (cards.pin_state = 'wrong' and cards.pin_sent_at > ${before(LATE_MS)})))
        or (sims.state = 'sim_locked' and cards.pin_state in ('sent', 'right')
          and coalesce(sims.reason, ${WAITS}) <> all (${NOT_TRIED}::text[])
          and (sims.reason is distinct from cards.pin_reason or cards.pin_sent_at < ${before(AGAIN_MS)})))`.execute(
    db,
  );
}

/** Gives a PIN that was refused, or whose result is unknown, another try. Returns the ICCID. Throws `OperatorRefusal`. */
export async function retryPin(db: Database, card: Card): Promise<string> {
  const iccid = await cardOf(db, card);
  const { numAffectedRows = 0n } = await sql`
    update cards set pin_state = 'untried', pin_node = null, pin_sent_at = null, pin_reason = null
    where iccid = ${iccid} and pin is not null`.execute(db);
  if (numAffectedRows === 0n)
    throw new OperatorRefusal(`The fleet file has given no PIN for the SIM ${iccid}.`);
  return iccid;
}

/** A locked card whose PIN the service has, in a slot of a linked node. */
export interface LockedCard {
  node: string;
  slot: string;
  state: PinState;
  /** The node that last got the PIN. */
  sentTo: string | null;
  /** As the node reports it, or why the service cannot open the PIN. */
  reason: string | null;
}

export async function findLockedCards(db: Database, now: Date): Promise<LockedCard[]> {
  const { rows } = await sql<LockedCard>`
    select sims.node_id as node, sims.slot, pin_state as state, pin_node as "sentTo",
      coalesce(pin_reason, sims.reason) as reason
    from cards join sims on sims.iccid = cards.iccid
    join nodes on nodes.id = sims.node_id and nodes.revoked_at is null and nodes.link_alive_until > ${now}::timestamptz
    where cards.pin is not null and sims.state = 'sim_locked' order by 1, 2`.execute(db);
  return rows;
}
