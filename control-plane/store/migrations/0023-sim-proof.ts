// What is still unproven of a number, the node that may have its SIM first, and SIMs that a node showed and nobody knows. Frozen: a change is a new migration.
import { type Kysely, sql } from 'kysely';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  "alter table numbers add column unproven text check (unproven in ('holder', 'number'))",
  'alter table numbers add column first_node text',
  // What was admitted before counts as proven.
  "update numbers set unproven = 'number' where unadmitted_since is not null",
  'alter table sim_claims drop constraint sim_claims_cause_check',
  `alter table sim_claims add constraint sim_claims_cause_check
    check (cause in ('contested', 'waiting', 'barred', 'suspended', 'expected_elsewhere'))`,
  "alter table nodes add column new_sims text[] not null default '{}'",
  'alter table nodes add column new_sims_since timestamptz',
  'alter table nodes add column new_sims_approved_at timestamptz',
];
