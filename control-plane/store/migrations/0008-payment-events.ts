// The history of each payment, refunds, and numbers that are out of service or retired. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table payment_events (
    id bigint generated always as identity primary key,
    payment_id text not null references payments (id) on delete cascade,
    state text not null,
    transaction_hash text,
    why text,
    at timestamptz not null
  )`,
  'create index payment_events_by_payment on payment_events (payment_id, id)',
  // Of payments that are older than their history only the last state is known.
  `insert into payment_events (payment_id, state, transaction_hash, why, at)
    select id, state, transaction_hash, failure, updated_at from payments order by updated_at, id`,
  `alter table payments
    drop constraint payments_state_check,
    add constraint payments_state_check check (state in
      ('claimed', 'in_flight', 'reverted', 'applied', 'released', 'void', 'refunding', 'refunded')),
    add column transfer_hash text`,
  'create index payments_by_age on payments (created_at desc, id desc)',
  // A payment is sent back by one transaction, and a nonce of an account serves one refund.
  `create table refunds (
    payment_id text primary key references payments (id),
    chain_id bigint not null,
    sender text not null,
    nonce bigint not null,
    raw_transaction text not null,
    transaction_hash text not null unique,
    created_at timestamptz not null,
    unique (chain_id, sender, nonce)
  )`,
  `alter table numbers
    add column out_of_service_at timestamptz,
    add column out_of_service_reason text,
    add column retired_at timestamptz,
    drop constraint numbers_iccid_key`,
  // The SIM of a retired number may be given another one.
  'create unique index numbers_by_iccid on numbers (iccid) where retired_at is null',
];
