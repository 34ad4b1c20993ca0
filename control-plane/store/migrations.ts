// Migrations in their order, and the runner. Forward only.
import { type Kysely, type Migration, Migrator } from 'kysely';
import * as initial from './migrations/0001-initial.ts';
import * as nodeKeys from './migrations/0002-node-keys.ts';
import * as deliveredParts from './migrations/0003-delivered-parts.ts';
import * as endedByReport from './migrations/0004-ended-by-report.ts';
import * as unregisteredSlots from './migrations/0005-unregistered-slots.ts';
import * as secrets from './migrations/0006-secrets.ts';
import * as accountLifetime from './migrations/0007-account-lifetime.ts';
import * as paymentEvents from './migrations/0008-payment-events.ts';
import * as calls from './migrations/0009-calls.ts';
import * as waitlist from './migrations/0010-waitlist.ts';
import type { Tables } from './tables.ts';

const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-node-keys': nodeKeys,
  '0003-delivered-parts': deliveredParts,
  '0004-ended-by-report': endedByReport,
  '0005-unregistered-slots': unregisteredSlots,
  '0006-secrets': secrets,
  '0007-account-lifetime': accountLifetime,
  '0008-payment-events': paymentEvents,
  '0009-calls': calls,
  '0010-waitlist': waitlist,
};

/** Brings the database to the newest schema. Several instances may call it at once: Kysely locks. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
}
