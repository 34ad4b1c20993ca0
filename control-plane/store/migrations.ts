// Migrations in their order, and the runner. Forward only.
import {
  type Kysely,
  type Migration,
  type MigrationProvider,
  type MigrationResultSet,
  Migrator,
} from 'kysely';
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
import * as nodeLoad from './migrations/0011-node-load.ts';
import * as operations from './migrations/0012-operations.ts';
import * as alerts from './migrations/0013-alerts.ts';
import * as consoleTables from './migrations/0014-console.ts';
import * as toldAlerts from './migrations/0015-told-alerts.ts';
import * as simAdmission from './migrations/0016-sim-admission.ts';
import * as holdings from './migrations/0017-holdings.ts';
import * as messageRetention from './migrations/0018-message-retention.ts';
import * as mailedAddresses from './migrations/0019-mailed-addresses.ts';
import * as paymentTrust from './migrations/0020-payment-trust.ts';
import * as simProof from './migrations/0021-sim-proof.ts';
import * as numberRivals from './migrations/0022-number-rivals.ts';
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
  '0011-node-load': nodeLoad,
  '0012-operations': operations,
  '0013-alerts': alerts,
  '0014-console': consoleTables,
  '0015-told-alerts': toldAlerts,
  '0016-sim-admission': simAdmission,
  '0017-holdings': holdings,
  '0018-message-retention': messageRetention,
  '0019-mailed-addresses': mailedAddresses,
  '0020-payment-trust': paymentTrust,
  '0021-sim-proof': simProof,
  '0022-number-rivals': numberRivals,
};

const PROVIDER: MigrationProvider = { getMigrations: async () => MIGRATIONS };

/** Brings the database to the newest schema. Several instances may call it at once: Kysely locks. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db, provider: PROVIDER });
  thrown(await migrator.migrateToLatest());
}

export const isKnownMigration = (name: string): boolean => Object.hasOwn(MIGRATIONS, name);

/** Brings an empty database to the schema of that migration, within the transaction that the connection is in. */
export async function migrateTo(connection: Kysely<Tables>, name: string): Promise<void> {
  const migrator = new Migrator({ db: connection, provider: PROVIDER, disableTransactions: true });
  thrown(await migrator.migrateTo(name));
}

function thrown({ error }: MigrationResultSet): void {
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error));
}
