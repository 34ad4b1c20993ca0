// The first schema. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // A number is a SIM (ICCID), wherever the SIM sits.
  `create table numbers (
    number text primary key,
    iccid text not null unique,
    created_at timestamptz not null
  )`,
  `create table nodes (
    id text primary key,
    link_id text,
    link_alive_until timestamptz
  )`,
  `create table journals (
    node_id text not null,
    journal_id text not null,
    acknowledged bigint not null,
    primary key (node_id, journal_id)
  )`,
  `create table sims (
    iccid text primary key,
    node_id text not null,
    slot text not null,
    device_id text,
    state text not null,
    operator text,
    signal_dbm integer,
    updated_at timestamptz not null
  )`,
  'create index sims_by_node on sims (node_id)',
  `create table subscriptions (
    id text primary key,
    wallet text not null unique,
    number text not null unique references numbers (number),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    bound_at timestamptz
  )`,
  `create table tokens (
    hash bytea primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    created_at timestamptz not null
  )`,
  'create index tokens_by_subscription on tokens (subscription_id)',
  `create table nonces (
    nonce text primary key,
    expires_at timestamptz not null
  )`,
  'create index nonces_by_expiry on nonces (expires_at)',
  `create table payments (
    id text primary key,
    chain_id bigint not null,
    asset text not null,
    payer text not null,
    nonce text not null,
    pay_to text not null,
    value numeric(78) not null,
    valid_after numeric(78) not null,
    valid_before numeric(78) not null,
    signature text not null,
    state text not null
      check (state in ('claimed', 'in_flight', 'reverted', 'applied', 'released', 'void')),
    reserved_number text unique references numbers (number),
    raw_transaction text,
    transaction_hash text,
    transaction_nonce bigint,
    subscription_id text references subscriptions (id),
    failure text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (chain_id, asset, payer, nonce)
  )`,
  `create index payments_unfinished on payments (updated_at)
    where state in ('claimed', 'in_flight', 'reverted')`,
  `create table messages (
    id bigint generated always as identity primary key,
    subscription_id text not null references subscriptions (id) on delete cascade,
    direction text not null check (direction in ('sent', 'received')),
    from_number text not null,
    to_number text not null,
    body text not null,
    message_id text unique,
    status text,
    command_id text unique,
    command_node_id text,
    fact_key text unique,
    partial boolean not null default false,
    created_at timestamptz not null,
    received_at timestamptz,
    delivered_at timestamptz
  )`,
  'create index messages_history on messages (subscription_id, created_at desc, id desc)',
  `create index messages_undelivered on messages (subscription_id, id)
    where direction = 'received' and delivered_at is null`,
  `create index messages_unsettled on messages (command_node_id)
    where direction = 'sent' and status in ('sending', 'unknown')`,
  `create table unreadable_messages (
    fact_key text primary key,
    iccid text not null,
    pdu text not null,
    reason text not null,
    received_at timestamptz not null
  )`,
];
