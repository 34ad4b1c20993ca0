// In which order payments that wait for the chain are checked: junk of one payer holds up no other, and what stays open is checked less often.
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { checkEach } from '#control-plane/payments/round.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { silentLogger } from '#shared/log.ts';
import { storableAuthorization } from '../../../fixtures/chain/authorizations.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { until } from '../../../fixtures/until.ts';

const CHAIN_ID = 84532;
const MINUTE_MS = 60_000;

const postgres = await openDatabases(t);

async function setUp(t: Test) {
  const db = await openTestDatabase(t, await postgres.createMigrated());
  const ledger = createPaymentLedger(db);
  const clock = new ManualClock();
  const now = () => new Date(clock.now());
  return {
    ledger,
    clock,
    now,
    /** An authorization that was used when it came, and the chain does not show by what. */
    async open(from: Hex): Promise<string> {
      const claim = await ledger.noteUsed(storableAuthorization(from), now());
      if (claim.kind !== 'claimed') throw new Error(claim.kind);
      clock.advance(1);
      return claim.payment.id;
    },
    due: (limit: number) =>
      ledger.unfinished(CHAIN_ID, { before: new Date(clock.now() + 1), now: now(), limit }),
  };
}

const stranger = (): Hex => privateKeyToAddress(generatePrivateKey());

t.test('a hundred junk payments of one payer come after the first of each other one', async (t) => {
  const { open, due } = await setUp(t);
  const junk = stranger();
  const first = await open(junk);
  for (let index = 1; index < 100; index += 1) await open(junk);
  const honest = [await open(stranger()), await open(stranger())];
  t.same(
    (await due(3)).map(({ id }) => id),
    [first, ...honest],
  );
});

t.test('an open payment is checked each minute at first, and every 15 minutes in the end', async (t) => {
  const { ledger, clock, open, due, now } = await setUp(t);
  const id = await open(stranger());
  let checks = 0;
  const minutes: number[] = [];
  for (let minute = 0; minute < 120; minute += 1, clock.advance(MINUTE_MS)) {
    if ((await due(1)).length === 0) continue;
    await ledger.noteCheck(id, now());
    checks += 1;
    minutes.push(minute);
  }
  t.same(minutes.slice(0, 11), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const gaps = minutes.map((minute, index) => minute - (minutes[index - 1] ?? 0));
  t.equal(Math.max(...gaps), 15);
  t.equal(gaps.at(-1), 15);
  t.ok(checks < 25);
});

t.test('payments whose calls hang hold up only as many others as are checked at once', async (t) => {
  const { ledger, clock, open, due } = await setUp(t);
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) ids.push(await open(stranger()));
  const checked: string[] = [];
  const hanging = new Set(ids.slice(0, 7));
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const round = checkEach({ ledger, clock, log: silentLogger }, await due(20), async ({ id }) => {
    if (hanging.has(id)) return promise;
    checked.push(id);
  });
  await until('all others were checked', () => checked.length === 13);
  resolve();
  await round;
});
