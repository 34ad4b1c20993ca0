// The schema, by topic. Frozen once a service uses it: a change is a new migration.
import { type Kysely, sql } from 'kysely';
import { FLEET } from './0001-schema/fleet.ts';
import { MESSAGES } from './0001-schema/messages.ts';
import { MONEY } from './0001-schema/money.ts';
import { OPERATIONS } from './0001-schema/operations.ts';
import { RECEIPTS } from './0001-schema/receipts.ts';
import { WEBHOOKS } from './0001-schema/webhooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: a migration must not know today's table types
export async function up(db: Kysely<any>): Promise<void> {
  for (const statement of [...FLEET, ...MONEY, ...MESSAGES, ...OPERATIONS, ...WEBHOOKS, ...RECEIPTS])
    await sql.raw(statement).execute(db);
}
