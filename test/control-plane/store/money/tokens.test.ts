// A sign-in that began before a payment, or at an instance whose clock is behind, revokes the token of that payment, too.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { replaceTokens } from '#control-plane/store/money/credentials.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { hasToken } from '#control-plane/store/money/repeated-payments.ts';
import { ALICE } from '../../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { storableAuthorization } from '../../../fixtures/chain/authorizations.ts';
import { insertNumbersOnSale } from '../../../fixtures/database/number-pool.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';

const postgres = await openDatabases(t);

t.test('a payment that is presented again brings no revoked token back', async (t) => {
  const databaseUrl = await postgres.createMigrated();
  const db = await openTestDatabase(t, databaseUrl);
  await insertNumbersOnSale(db, 1);
  const { number } = await db.selectFrom('numbers').select('number').executeTakeFirstOrThrow();
  const { subscriptionId } = await subscribeInStore(databaseUrl, ALICE, number);
  const signInBegan = new Date();
  const claimedAt = new Date(signInBegan.getTime() + 1_000);
  const claim = await createPaymentLedger(db).claim(storableAuthorization(ALICE.address), {
    now: claimedAt,
    yearsAheadMax: 3,
    runsCode: false,
  });
  t.equal(claim.kind, 'claimed');
  await db.updateTable('payments').set({ state: 'applied', subscription_id: subscriptionId }).execute();
  const ofPayment = { hash: randomBytes(32), subscriptionId, now: claimedAt };
  t.ok(await hasToken(db, ofPayment, { canBeNew: true, claimedAt }), 'its answer was lost');
  await replaceTokens(db, { hash: randomBytes(32), subscriptionId, now: signInBegan });
  t.notOk(await hasToken(db, ofPayment, { canBeNew: true, claimedAt }));
});
