// Which server is written to, and which commit counts, when a primary and its standby change places.
import { sql } from 'kysely';
import { Client } from 'pg';
import t from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { jsonPost } from '../../../fixtures/agents/json-post.ts';
import { startReplicatedPostgres } from '../../../fixtures/database/replicated-postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig({ openServer: () => startReplicatedPostgres() });
const { postgres } = rig;

async function ask<T = unknown>(url: string, text: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

t.test('a commit that was cut short before the standby had it is not acknowledged', async (t) => {
  const databaseUrl = await postgres.createMigrated();
  const { url } = await rig.start(t, { databaseUrl });
  await postgres.killStandby();
  const asked = fetch(`${url}/waitlist`, jsonPost({ email: 'someone@example.com' }));
  await until('it waits for the standby', async () => {
    const rows = await ask(
      postgres.primaryOf(databaseUrl),
      `select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event = 'SyncRep'`,
    );
    return rows.length > 0;
  });
  const answer = await asked;
  t.equal(answer.status, 503);
  t.match(answer.headers.get('retry-after'), /^\d+$/);
  t.same(
    (await ask(postgres.primaryOf(databaseUrl), 'select from waitlist')).length,
    1,
    'although it is there',
  );
  await postgres.addStandby();
});

t.test('a standby alone is no database', async (t) => {
  const url = postgres.otherOf(await postgres.createMigrated());
  await until('the standby has it', () => ask(url, 'select 1').catch(() => undefined));
  await t.rejects(openDatabase({ url, connectionsMax: 1 }), {
    name: 'DatabaseUnavailable',
    cause: { message: 'the server is a standby' },
  });
});

t.test('a former primary that comes back is not written to', async (t) => {
  const url = await postgres.createMigrated();
  const db = await openTestDatabase(t, url);
  const portOf = async (): Promise<number> => {
    const { rows } = await sql<{ port: string }>`select current_setting('port') as port`.execute(db);
    return Number(rows[0]?.port);
  };
  const { primary: former, other: next } = postgres.ports();
  t.equal(await portOf(), former);
  await postgres.killPrimary();
  await t.rejects(portOf(), { name: 'DatabaseUnavailable' });
  await postgres.promote();
  t.equal(await portOf(), next);

  await postgres.startFormerPrimary();
  t.same(await ask(postgres.otherOf(url), 'select pg_is_in_recovery() as standby'), [{ standby: false }]);
  await ask(
    postgres.primaryOf(url),
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await until('it is connected again', () => portOf().catch(() => undefined));
  t.equal(await portOf(), next);
  const fresh = await openDatabase({ url, connectionsMax: 1 });
  const { rows } = await sql<{ port: string }>`select current_setting('port') as port`.execute(fresh.db);
  t.equal(Number(rows[0]?.port), next, 'a new program finds the newer one, too');
  await fresh.close();
});
