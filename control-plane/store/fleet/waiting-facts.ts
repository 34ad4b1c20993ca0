// Facts of SIMs that their node does not hold. They are acknowledged, so that the node's other facts pass, and stored: a node may have read
// its new SIM before the former holder released it.
import { sql } from 'kysely';
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { storableText } from '../database/reported-values.ts';
import { STAMP_LEAD_MAX_MS, ZONE_ERROR_MAX_MS } from './holdings.ts';
import { addRefusals } from './node-refusals.ts';
import { findHeldAs } from './sim-tenures.ts';

/** Per node; further ones are dropped. A SIM that moves brings a storage full of texts. */
const WAITING_FACTS_MAX = 512;

/** Time for an operator to decide which node has the SIM. */
const KEPT_MS = 3 * 24 * 60 * 60_000;

/** A fact and its identity: "<node>/<journal>/<position>". */
export interface KeyedFact {
  key: string;
  fact: Fact;
}

/**
 * The SIM that a fact is about and the latest time in it; undefined if its command identifies the subscriber. Otherwise the time of the
 * text or call identifies the subscriber, so a former holder may report neither for later than it held the SIM.
 */
function simOf(fact: Fact, now: Date): { iccid: string; at: Date } | undefined {
  const latest = (...times: string[]): Date =>
    new Date(Math.min(Math.max(...times.map((time) => Date.parse(time))), now.getTime()));
  switch (fact.kind) {
    case 'sms_received':
      return { iccid: fact.iccid, at: latest(fact.received_at, stampOf(fact) ?? fact.received_at) };
    case 'sms_unreadable':
      return { iccid: fact.iccid, at: latest(fact.received_at) };
    case 'sms_report':
      return { iccid: fact.iccid, at: latest(fact.at) };
    case 'call_ended':
      return { iccid: fact.iccid, at: latest(fact.started_at, fact.ended_at) };
    case 'sms_outcome':
      return undefined;
  }
}

/**
 * When the service center received a text. Null if its time zone is wrong: the stamp is hours later than the text was read. If it is more
 * than a day later, the node's clock is wrong instead.
 */
function stampOf({ sent_at: sentAt, received_at: receivedAt }: FactOf<'sms_received'>): string | null {
  const leadMs = sentAt === null ? 0 : Date.parse(sentAt) - Date.parse(receivedAt);
  return leadMs > STAMP_LEAD_MAX_MS && leadMs <= ZONE_ERROR_MAX_MS ? null : sentAt;
}

/** The part of a fact from a former holder that counts. */
function asOfFormerHolder(fact: Fact): Fact {
  if (fact.kind === 'sms_received') return { ...fact, sent_at: stampOf(fact) };
  const endsFirst = fact.kind === 'call_ended' && Date.parse(fact.ended_at) < Date.parse(fact.started_at);
  return endsFirst ? { ...fact, started_at: fact.ended_at } : fact;
}

/** The facts that the node may report, in their order. The others are stored as waiting, and counted. */
export async function keepOwnFacts<F extends KeyedFact>(
  trx: DatabaseTransaction,
  nodeId: string,
  facts: readonly F[],
  now: Date,
): Promise<{ own: F[]; putAside: number }> {
  const sims = facts.map(({ fact }) => simOf(fact, now));
  const asked = sims.flatMap((sim) => sim ?? []);
  if (asked.length === 0) return { own: [...facts], putAside: 0 };
  const answers = (await findHeldAs(trx, nodeId, asked)).values();
  const own: F[] = [];
  const others: Array<F & { iccid: string }> = [];
  for (const [index, each] of facts.entries()) {
    const sim = sims[index];
    const heldAs = sim === undefined ? 'present holder' : answers.next().value;
    if (heldAs === 'present holder') own.push(each);
    else if (heldAs === 'former holder') own.push({ ...each, fact: asOfFormerHolder(each.fact) });
    else if (sim !== undefined) others.push({ ...each, iccid: sim.iccid });
  }
  if (others.length > 0) {
    await sql`
      insert into waiting_facts (fact_key, node_id, iccid, fact, received_at)
      select key, ${nodeId}, iccid, fact::jsonb, ${now}::timestamptz
      from unnest(${others.map(({ key }) => key)}::text[], ${others.map(({ iccid }) => iccid)}::text[],
        ${others.map(({ fact }) => storableJson(fact))}::text[]) with ordinality as other (key, iccid, fact, position)
      order by position
      limit greatest(0, ${WAITING_FACTS_MAX} - (select count(*) from waiting_facts where node_id = ${nodeId}))
      on conflict (fact_key) do nothing`.execute(trx);
    await addRefusals(trx, { nodeId, reason: 'facts', count: others.length }, now);
  }
  return { own, putAside: others.length };
}

const isDue = (nodeId: string) => sql`node_id = ${nodeId} and exists (
  select from sim_tenures where sim_tenures.iccid = waiting_facts.iccid
    and sim_tenures.node_id = ${nodeId} and until is null)`;

/** Whether facts wait for SIMs that the node now holds. */
export async function hasDueFacts(db: Database, nodeId: string): Promise<boolean> {
  const { rows } = await sql`select from waiting_facts where ${isDue(nodeId)} limit 1`.execute(db);
  return rows.length > 0;
}

/** Takes the waiting facts of SIMs that the node now holds, oldest first. */
export async function takeWaitingFacts(
  trx: DatabaseTransaction,
  nodeId: string,
  now: Date,
): Promise<KeyedFact[]> {
  const { rows } = await sql<KeyedFact & { position: number }>`
    delete from waiting_facts where ${isDue(nodeId)}
    returning fact_key as key, fact, position`.execute(trx);
  await addRefusals(trx, { nodeId, reason: 'facts', count: -rows.length }, now);
  return rows.sort((a, b) => a.position - b.position).map(({ key, fact }) => ({ key, fact }));
}

export async function deleteOldWaitingFacts(db: Database, now: Date): Promise<void> {
  await db
    .deleteFrom('waiting_facts')
    .where('received_at', '<', new Date(now.getTime() - KEPT_MS))
    .execute();
}

const storableJson = (fact: Fact): string =>
  JSON.stringify(fact, (_key, value: unknown) => (typeof value === 'string' ? storableText(value) : value));
