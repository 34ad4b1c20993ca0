// Old and new versions of the service on one database, under traffic: expand, move over, contract.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import * as schema from '#control-plane/store/database/migrations/0001-schema.ts';
import type { Migrations } from '#control-plane/store/database/schema-versions.ts';
import { skipWithoutNats } from '../fixtures/service/nats.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { Traffic } from '../fixtures/stacks/traffic.ts';

const skip = skipWithoutNats();
const rig = await createRig({ hasInstances: skip === false });

const OLD: Migrations = { '0001-schema': schema };
/** A second form of a text, which old programs do not write: the database does it for them. */
const NEW: Migrations = {
  ...OLD,
  '0002-expand': {
    serves: '0001-schema',
    async up(db) {
      await sql`alter table messages add column units integer`.execute(db);
      await sql`create function fill_units() returns trigger language plpgsql as $$
        begin new.units := coalesce(new.units, length(new.body)); return new; end $$`.execute(db);
      await sql`create trigger fill_units before insert on messages for each row execute function fill_units()`.execute(
        db,
      );
    },
  },
};
const LAST: Migrations = {
  ...NEW,
  '0003-contract': {
    serves: '0002-expand',
    async up(db) {
      await sql`drop trigger fill_units on messages`.execute(db);
      await sql`alter table messages alter column units set default 0`.execute(db);
    },
  },
};

/** The instances that take requests, as a load balancer has them. */
class Instances {
  readonly #t: Test;
  readonly #databaseUrl: string;
  readonly #live: { version: Migrations; url: string; stop: () => Promise<void> }[] = [];
  #turn = 0;

  constructor(t: Test, databaseUrl: string) {
    this.#t = t;
    this.#databaseUrl = databaseUrl;
  }

  /** URL of the next one. */
  readonly url = (): string => {
    this.#turn += 1;
    return this.#live[this.#turn % this.#live.length]?.url ?? '';
  };

  async start(migrations: Migrations): Promise<void> {
    const { url, service } = await rig.start(this.#t, { databaseUrl: this.#databaseUrl, migrations });
    this.#live.push({ version: migrations, url, stop: () => service.stop() });
  }

  /** Ends the oldest one of this version, as SIGTERM does. Meanwhile requests go to it, too. */
  async drain(version: Migrations): Promise<void> {
    const index = this.#live.findIndex((instance) => instance.version === version);
    await this.#live[index]?.stop();
    this.#live.splice(index, 1);
  }
}

t.test('instance by instance, nothing is lost', { skip, timeout: 300_000 }, async (t) => {
  const databaseUrl = await rig.postgres.createDatabase();
  const instances = new Instances(t, databaseUrl);
  const { start, drain } = {
    start: (version: Migrations) => instances.start(version),
    drain: (version: Migrations) => instances.drain(version),
  };
  await start(OLD);
  await start(OLD);
  const traffic = await Traffic.start(t, {
    chain: rig.chain,
    url: instances.url,
    databaseUrl,
    payers: 2,
    mayBreak: true,
  });
  await traffic.passes();

  await start(NEW);
  await traffic.passes();
  await t.rejects(start(LAST), { message: /an instance of an older version runs/ }, 'too early');
  await drain(OLD);
  await traffic.passes();
  await start(OLD);
  await traffic.passes();
  await drain(OLD);
  await start(NEW);
  await drain(OLD);
  await traffic.passes();

  await start(LAST);
  await traffic.passes();
  await t.rejects(start(OLD), { message: /0003-contract.*start a newer version/ }, 'no rollback');
  await drain(NEW);
  await start(LAST);
  await drain(NEW);
  await traffic.passes();
  await traffic.check(t);
});
