// The nonces of a wallet that several instances use, also when the database is lost after the RPC has accepted a transaction.
import t, { type Test } from 'tap';
import type { Database } from '#control-plane/store/database/database.ts';
import { SharedNonces } from '#control-plane/store/money/shared-nonces.ts';
import { systemClock } from '#shared/clock.ts';
import { RELAYER } from '../../../dev-stack/wallets.ts';
import { mortalDatabase } from '../../../fixtures/database/mortal-database.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { recordedLog } from '../../../fixtures/recorded-log.ts';

const postgres = await openDatabases(t);
const IMMORTAL = { left: Number.POSITIVE_INFINITY };

function instance(db: Database) {
  const { log, lines } = recordedLog();
  const nonces = new SharedNonces({ db, chainId: 84532, address: RELAYER.address, clock: systemClock, log });
  return { nonces, lines, nonceMin: () => nonces.inTurn(async (turn) => turn.nonceMin) };
}

/** Two instances on one database; the connections of the first one die when its `life` ends. */
async function two(t: Test) {
  const url = await postgres.createMigrated();
  const life = { ...IMMORTAL };
  const dying = mortalDatabase(url, life);
  t.teardown(() => dying.destroy());
  return { life, one: instance(dying), other: instance(await openTestDatabase(t, url)) };
}

t.test('a nonce that one instance used is known to the other one', async (t) => {
  const { one, other } = await two(t);
  const sent = one.nonces.inTurn(async ({ nonceMin, taken }) => {
    taken(7);
    return nonceMin;
  });
  t.equal(await sent, 0);
  t.equal(await other.nonceMin(), 8);
  t.same(one.lines, []);
});

for (const [lost, statements] of [
  ['before the nonce is stored', 0],
  ['before it is committed', 1],
] as const) {
  t.test(
    `the database is lost ${lost}: the transaction stays, and its instance knows the nonce`,
    async (t) => {
      const { life, one, other } = await two(t);
      const sent = one.nonces.inTurn(async ({ taken }) => {
        taken(7);
        life.left = statements;
        return 'hash';
      });
      t.equal(await sent, 'hash');
      t.match(one.lines, [{ level: 'warn', message: 'the nonce of a transaction was not recorded' }]);
      t.equal(await other.nonceMin(), 0, 'the row is free, and the RPC counts');
      Object.assign(life, IMMORTAL);
      t.equal(await one.nonceMin(), 8);
    },
  );
}

t.test('the database is lost before the turn: nothing is signed', async (t) => {
  const { life, one } = await two(t);
  life.left = 1;
  await t.rejects(
    one.nonces.inTurn(async () => t.fail('it had a turn')),
    /dead/,
  );
  t.same(one.lines, []);
});

t.test('work that fails rejects with its own error, and the next turn begins', async (t) => {
  const { one, other } = await two(t);
  await t.rejects(
    one.nonces.inTurn(async ({ taken }) => {
      taken(7);
      throw new Error('the RPC hung up');
    }),
    { message: 'the RPC hung up' },
  );
  t.same([await other.nonceMin(), await one.nonceMin()], [0, 8]);
});
