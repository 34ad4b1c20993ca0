// The end of a subscription: grace, purge; bindings belong to where the SIM sits. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  'alter table subscriptions add column lapsed_at timestamptz',
  // The ledger outlives the subscriptions that it tells of.
  'alter table payments drop constraint payments_subscription_id_fkey',
  // Not a reference: a SIM that is bound to a subscription that is gone is bound to none.
  'alter table sims add column bound_to text',
  `update sims set bound_to = subscriptions.id
    from numbers join subscriptions on subscriptions.number = numbers.number
    where numbers.iccid = sims.iccid and subscriptions.bound_at is not null`,
  'alter table subscriptions drop column bound_at',
];
