// Accounts with code, transfers that a reorganisation takes back, and how often a payment was checked. Frozen: a change is a
// new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Signed by the key of the address, or accepted by the code of the account there.
  `alter table payments
    add column signed_by text not null default 'key' check (signed_by in ('key', 'account')),
    add column runs_code boolean not null default false,
    add column checks integer not null default 0,
    add column next_check_at timestamptz,
    add column final_at timestamptz,
    drop constraint payments_state_check,
    add constraint payments_state_check check (state in
      ('claimed', 'in_flight', 'reverted', 'applied', 'taken_back', 'released', 'void', 'refunding', 'refunded'))`,
  // What was applied before transfers were checked again has long been final.
  `update payments set final_at = updated_at where state = 'applied'`,
  `create index payments_not_final on payments (chain_id, updated_at)
    where state = 'applied' and final_at is null`,
  'create index payments_by_payer on payments (payer, created_at)',
  `create index payment_refusals on payment_events (at) where state = 'reverted'`,
  // The chain whose code speaks for the wallet; null where its key does, on every chain.
  'alter table subscriptions add column account_chain_id bigint',
];
