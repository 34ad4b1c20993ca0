// A released payment that its payer presents again while an operator refunds it: one of the two, not both.
import t from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { inTransaction } from '#control-plane/store/database/database.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { storableAuthorization } from '../../../fixtures/chain/authorizations.ts';
import { waitsForLock } from '../../../fixtures/database/locks.ts';
import { insertNumbersOnSale } from '../../../fixtures/database/number-pool.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { until } from '../../../fixtures/until.ts';

const postgres = await openDatabases(t);

for (const way of ['claim', 'noteUsed'] as const)
  t.test(`presented again, ${way}`, async (t) => {
    const db = await openTestDatabase(t, await postgres.createMigrated());
    await insertNumbersOnSale(db, 1);
    const ledger = createPaymentLedger(db);
    const from: Hex = privateKeyToAddress(generatePrivateKey());
    const authorization = storableAuthorization(from);
    const now = new Date();
    const present = () =>
      way === 'noteUsed'
        ? ledger.noteUsed(authorization, now)
        : ledger.claim(authorization, { now, yearsAheadMax: 2, runsCode: false });
    const first = await present();
    if (first.kind !== 'claimed') throw new Error(first.kind);
    const { id } = first.payment;
    await db.updateTable('payments').set({ state: 'released', reserved_number: null }).execute();
    const presented = await inTransaction(db, async (trx) => {
      await trx.updateTable('payments').set({ state: 'refunding', failure: 'no number was free' }).execute();
      const presented = present();
      await until('it waits', waitsForLock(db));
      return { presented };
    });
    t.match(await presented.presented, { kind: 'taken', known: { state: 'refunding' } });
    t.match(await db.selectFrom('payments').select(['id', 'state', 'failure']).execute(), [
      { id, state: 'refunding', failure: 'no number was free' },
    ]);
  });
