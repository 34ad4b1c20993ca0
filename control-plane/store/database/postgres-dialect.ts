// Kysely's dialect, for poolers too: they hand a session from one client to the next after each transaction.
import { type Kysely, PostgresAdapter, PostgresDialect, sql } from 'kysely';

/** Ends with the transaction of the migration. Kysely's own lock belongs to the session, and would stay with a pooler. */
class TransactionLock extends PostgresAdapter {
  // biome-ignore lint/suspicious/noExplicitAny: as Kysely declares it
  override async acquireMigrationLock(db: Kysely<any>): Promise<void> {
    await sql`select pg_advisory_xact_lock(3853314791062309107)`.execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {}
}

export class Dialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new TransactionLock();
  }
}
