// Who holds a SIM and held it, claims that were refused, and numbers that wait for admission. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  'alter table numbers add column unadmitted_since timestamptz',
  // What is there is sold as before, but for what is no number of the NANP.
  `update numbers set unadmitted_since = now()
    where number !~ '^\\+1[2-9][0-9]{2}[2-9][0-9]{6}$' and retired_at is null
      and not exists (select from subscriptions where subscriptions.number = numbers.number)
      and not exists (select from payments where payments.reserved_number = numbers.number)`,
  `create table sim_tenures (
    id bigint generated always as identity primary key,
    iccid text not null,
    node_id text not null references nodes (id) on delete cascade,
    slot text not null,
    since timestamptz not null,
    until timestamptz,
    sighting text not null check (sighting in ('present', 'lost', 'unseen')),
    sighting_since timestamptz not null,
    taken_from text
  )`,
  'create unique index sim_tenures_open on sim_tenures (iccid) where until is null',
  'create index sim_tenures_of_node on sim_tenures (node_id) where until is null',
  'create index sim_tenures_history on sim_tenures (iccid, until)',
  `insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since)
    select iccid, node_id, slot, to_timestamp(0), case when state = 'lost' then 'lost' else 'present' end, now()
    from sims join nodes on nodes.id = sims.node_id`,
  `create table sim_claims (
    node_id text not null references nodes (id) on delete cascade,
    iccid text not null,
    slot text not null,
    cause text not null check (cause in ('contested', 'waiting', 'barred', 'suspended')),
    since timestamptz not null,
    contested_since timestamptz,
    seen_at timestamptz not null,
    primary key (node_id, iccid)
  )`,
  `create table node_refusals (
    node_id text not null references nodes (id) on delete cascade,
    reason text not null check (reason in ('claims', 'facts', 'calls', 'numbers')),
    count bigint not null,
    last_at timestamptz not null,
    primary key (node_id, reason)
  )`,
  'alter table nodes add column claims_suspended_at timestamptz',
  `create table waiting_facts (
    fact_key text primary key,
    position bigint generated always as identity,
    node_id text not null references nodes (id) on delete cascade,
    iccid text not null,
    fact jsonb not null,
    received_at timestamptz not null
  )`,
  'create index waiting_facts_of_sim on waiting_facts (node_id, iccid)',
  // Texts that prove the number of a SIM: they say nothing of the slot at their other end.
  'alter table probes add column is_admission boolean not null default false',
];
