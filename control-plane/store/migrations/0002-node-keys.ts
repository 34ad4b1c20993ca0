// Nodes have keys: enrolment by a code, proofs for one use, what nodes tell of themselves. Frozen.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // One code a node: a new one voids the one before. code_key says for which key it was used.
  `alter table nodes
    add column public_key bytea,
    add column enrolled_at timestamptz,
    add column revoked_at timestamptz,
    add column code_hash bytea unique,
    add column code_expires_at timestamptz,
    add column code_key bytea,
    add column alarms text[] not null default '{}',
    add column unheld_messages bigint not null default 0`,
  `create table link_proofs (
    node_id text not null,
    random text not null,
    expires_at timestamptz not null,
    primary key (node_id, random)
  )`,
  'create index link_proofs_by_expiry on link_proofs (expires_at)',
  `create table node_events (
    id bigint generated always as identity primary key,
    node_id text not null,
    slot text not null,
    kind text not null,
    detail text not null,
    at timestamptz not null,
    received_at timestamptz not null
  )`,
  'create index node_events_by_node on node_events (node_id, id)',
  `alter table sims
    add column model text,
    add column usb_path text,
    add column reason text`,
];
