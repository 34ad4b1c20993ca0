// A released payment that its payer presents again while an operator refunds it: one of the two, not both.
import { sql } from 'kysely';
import t from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { inTransaction } from '#control-plane/store/database/database.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { PAY_TO } from '../../../dev-stack/wallets.ts';
import { randomNonce } from '../../../fixtures/chain/authorizations.ts';
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
    const authorization = {
      chainId: 84532,
      asset: PAY_TO.address,
      from,
      to: PAY_TO.address,
      value: 1n,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce: randomNonce(),
      signature: '0x01',
      signedBy: 'key',
    } as const;
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
      await until('it waits', async () => {
        const { rows } = await sql`select from pg_locks where not granted`.execute(db);
        return rows.length > 0;
      });
      return { presented };
    });
    t.match(await presented.presented, { kind: 'taken', known: { state: 'refunding' } });
    t.match(await db.selectFrom('payments').select(['id', 'state', 'failure']).execute(), [
      { id, state: 'refunding', failure: 'no number was free' },
    ]);
  });
