// Applies a fleet file: all cards or none.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import * as z from 'zod';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { type Database, type DatabaseTransaction, inTransaction, rolledBack } from '../database/database.ts';
import { type ImportedNumber, importNumbers } from '../fleet/number-import.ts';
import { lockOpenTenures } from '../fleet/sim-proof.ts';
import {
  type CardChange,
  cardChangeSchema,
  changeOf,
  fleetNoteSchema,
  noteOn,
  type StoredCard,
  type StoredPlace,
  type WrittenCard,
} from './fleet-plan.ts';

/** Key of the advisory lock of transactions that apply a fleet file. */
const FLEET_LOCK = 7_310_022;

/** The PINs of the service, sealed and opened. */
export interface Pins {
  seal(iccid: string, pin: string): string;
  isPin(iccid: string, sealed: string, pin: string): boolean;
}

export const fleetDiffSchema = z.object({
  changes: z.array(cardChangeSchema),
  /** Cards of the file that the service has like this. */
  unchanged: z.number(),
  /** Cards of the service that are not in the file; they stay as they are. */
  others: z.number(),
  /** Notes about applied cards that are not where the file says. */
  notes: z.array(fleetNoteSchema),
  /** Identifies the changes. */
  digest: z.string(),
});
export type FleetDiff = z.output<typeof fleetDiffSchema>;

/** Written in place of a PIN in a transaction that is undone. */
const NOT_SEALED = '-';

interface Applied {
  pins: Pins;
  now: Date;
  /** The digest of the diff that the operator saw; undefined if any change is fine. */
  expected?: string | undefined;
}

/** The changes that `applyFleet` would make. Throws as `applyFleet` does. */
export async function planFleet(
  db: Database,
  cards: readonly WrittenCard[],
  parts: Omit<Applied, 'expected'>,
): Promise<FleetDiff> {
  // Sealing would make a missing key file, which the user of the service may not read.
  const pins: Pins = {
    isPin: (...about) => parts.pins.isPin(...about),
    seal: () => NOT_SEALED,
  };
  return rolledBack(db, (trx) => applyFleet(trx, cards, { ...parts, pins }));
}

/**
 * Writes the cards and imports their numbers, all or nothing. Throws `OperatorRefusal` with a line for each card that cannot be applied,
 * and if the changes are not the expected ones.
 */
export const applyFleet = (
  db: Database,
  cards: readonly WrittenCard[],
  { pins, now, expected }: Applied,
): Promise<FleetDiff> =>
  inTransaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(${FLEET_LOCK})`.execute(trx);
    const iccids = cards.map(({ iccid }) => iccid);
    // A report of a node must not come between the diff and what is done.
    await lockOpenTenures(trx, iccids);
    const known = await readCards(trx, iccids);
    const changes = cards.map((card) => {
      const { stored, place = NO_PLACE } = known.get(card.iccid) ?? {};
      const sealed = stored?.pin ?? null;
      const isSamePin = card.pin != null && sealed !== null && pins.isPin(card.iccid, sealed, card.pin);
      return changeOf(card, stored, { isSamePin, place });
    });
    const problems = [
      ...pastDates(cards, changes, now),
      ...(await importProblems(trx, cards, { known, now })),
    ];
    if (problems.length > 0)
      throw new OperatorRefusal(
        problems
          .sort((one, other) => one.line - other.line)
          .map(({ text }) => text)
          .join('\n'),
      );
    const real = changes.filter(({ fields, isNew }) => isNew || fields.length > 0);
    const digest = digestOf(real);
    if (expected !== undefined && expected !== digest)
      throw new OperatorRefusal('The fleet has changed since the diff was shown. Run the command again.');
    await writeCards(trx, cards, real, { pins, now });
    const others = await countOthers(trx, cards);
    const nodes = await readNodeNames(trx);
    const notes = cards.flatMap((card) => {
      const { place = NO_PLACE } = known.get(card.iccid) ?? {};
      return noteOn(card, place, { isNode: nodes.has(card.node ?? '') }) ?? [];
    });
    return { changes: real, unchanged: cards.length - real.length, others, notes, digest };
  });

interface Problem {
  line: number;
  text: string;
}

/** A plan that the service knows, and that has run out meanwhile, is no mistake. */
function pastDates(cards: readonly WrittenCard[], changes: readonly CardChange[], now: Date): Problem[] {
  const today = now.toISOString().slice(0, 10);
  return cards.flatMap(({ line, plan_expires: date }, index) => {
    const isNew = changes[index]?.fields.some(({ field }) => field === 'plan_expires');
    return date && date < today && isNew
      ? [{ line, text: `line ${line}: plan_expires ${date} is in the past` }]
      : [];
  });
}

/** Imports the numbers of the file, and names the nodes of numbers that the service has. Returns why that is refused. */
async function importProblems(
  trx: DatabaseTransaction,
  cards: readonly WrittenCard[],
  { known, now }: { known: ReadonlyMap<string, KnownCard>; now: Date },
): Promise<Problem[]> {
  const rows: ImportedNumber[] = [];
  const problems: Problem[] = [];
  for (const { line, iccid, number: written, node } of cards) {
    const number = written ?? (node === undefined ? undefined : known.get(iccid)?.place.number);
    if (number != null) rows.push({ line, iccid, number, node });
    else if (node !== undefined) problems.push({ line, text: `line ${line}: node: needs a number` });
  }
  if (rows.length === 0) return problems;
  try {
    await importNumbers(trx, rows, now);
    return problems;
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    const refused = error.message
      .split('\n')
      .map((text) => ({ line: Number(/^line (\d+)/.exec(text)?.[1] ?? 0), text }));
    return [...problems, ...refused];
  }
}

interface KnownCard {
  stored: StoredCard | undefined;
  place: StoredPlace;
}

const NO_PLACE: StoredPlace = { number: null, holder: null, firstNode: null, isProven: false };

/** A number that only a node has reported is none: an import replaces it. */
async function readCards(
  trx: DatabaseTransaction,
  iccids: readonly string[],
): Promise<Map<string, KnownCard>> {
  const { rows } = await sql<
    Omit<StoredCard, 'iccid'> & StoredPlace & { iccid: string | null; written: string }
  >`
    select written.iccid as written, cards.iccid, label, carrier, plan, plan_expires::text, monthly_cost::text, pin, pin_state,
      numbers.number, sim_tenures.node_id as holder, first_node as "firstNode",
      numbers.number is not null and coalesce(unproven not in ('holder', 'moved'), true) as "isProven"
    from unnest(${iccids}::text[]) as written (iccid)
    left join cards on cards.iccid = written.iccid
    left join numbers on numbers.iccid = written.iccid and numbers.retired_at is null and unadmitted_since is null
    left join sim_tenures on sim_tenures.iccid = written.iccid and until is null`.execute(trx);
  return new Map(
    rows.map(({ iccid, written, number, holder, firstNode, isProven, ...card }) => [
      written,
      {
        stored: iccid === null ? undefined : { iccid, ...card },
        place: { number, holder, firstNode, isProven },
      },
    ]),
  );
}

/** The nodes that were added and not removed. */
async function readNodeNames(trx: DatabaseTransaction): Promise<Set<string>> {
  const rows = await trx.selectFrom('nodes').select('id').where('revoked_at', 'is', null).execute();
  return new Set(rows.map(({ id }) => id));
}

async function writeCards(
  trx: DatabaseTransaction,
  cards: readonly WrittenCard[],
  changes: readonly CardChange[],
  { pins, now }: Pick<Applied, 'pins' | 'now'>,
): Promise<void> {
  const byIccid = new Map(cards.map((card) => [card.iccid, card]));
  const rows = changes.map(({ iccid, fields }) => {
    const { pin = null, ...card } = byIccid.get(iccid) ?? ({ iccid } as WrittenCard);
    const changed = new Set(fields.map(({ field }) => field));
    const isPinChanged = changed.has('pin');
    return {
      iccid,
      label: card.label ?? null,
      carrier: card.carrier ?? null,
      plan: card.plan ?? null,
      plan_expires: card.plan_expires ?? null,
      monthly_cost: card.monthly_cost ?? null,
      pin: isPinChanged && pin !== null ? pins.seal(iccid, pin) : null,
      changed: [...changed],
    };
  });
  // One bound value, however many rows.
  await sql`
    insert into cards (iccid, label, carrier, plan, plan_expires, monthly_cost, pin, pin_state, updated_at)
    select iccid, label, carrier, plan, plan_expires, monthly_cost, pin, case when pin is not null then 'untried' end,
      ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as written (iccid text, label text, carrier text, plan text,
      plan_expires date, monthly_cost numeric, pin text)
    on conflict (iccid) do nothing`.execute(trx);
  await sql`
    update cards set
      label = case when changed ? 'label' then written.label else cards.label end,
      carrier = case when changed ? 'carrier' then written.carrier else cards.carrier end,
      plan = case when changed ? 'plan' then written.plan else cards.plan end,
      plan_expires = case when changed ? 'plan_expires' then written.plan_expires else cards.plan_expires end,
      monthly_cost = case when changed ? 'monthly_cost' then written.monthly_cost else cards.monthly_cost end,
      pin = case when changed ? 'pin' then written.pin else cards.pin end,
      pin_state = case when not changed ? 'pin' then cards.pin_state when written.pin is not null then 'untried' end,
      pin_node = case when not changed ? 'pin' then cards.pin_node end,
      pin_sent_at = case when not changed ? 'pin' then cards.pin_sent_at end,
      pin_reason = case when not changed ? 'pin' then cards.pin_reason end,
      updated_at = ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as written (iccid text, label text, carrier text, plan text,
      plan_expires date, monthly_cost numeric, pin text, changed jsonb)
    where cards.iccid = written.iccid`.execute(trx);
}

async function countOthers(trx: DatabaseTransaction, cards: readonly WrittenCard[]): Promise<number> {
  const iccids = cards.map(({ iccid }) => iccid);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select iccid from cards union select iccid from numbers where retired_at is null
    ) as known where iccid <> all (${iccids}::text[])`.execute(trx);
  return rows[0]?.count ?? 0;
}

const digestOf = (changes: readonly CardChange[]): string =>
  createHash('sha256').update(JSON.stringify(changes)).digest('hex');
