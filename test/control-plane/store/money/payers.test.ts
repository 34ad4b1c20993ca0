// How often the code of payers may have the relayer pay for nothing: all of them together, whatever address and signature.
import t from 'tap';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { RELAYER } from '../../../dev-stack/wallets.ts';
import { storableAuthorization } from '../../../fixtures/chain/authorizations.ts';
import { insertNumbersOnSale } from '../../../fixtures/database/number-pool.ts';
import { openDatabases } from '../../../fixtures/database/postgres.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';

const MINUTE_MS = 60_000;
const BURST = 130;
/** Refused payments in an hour. */
const REFUSALS_MAX = 100;

const postgres = await openDatabases(t);

t.test(
  'a burst of payers with code is held up at a bound, and lets payers without code through',
  async (t) => {
    const db = await openTestDatabase(t, await postgres.createMigrated());
    await insertNumbersOnSale(db, BURST + 1);
    const ledger = createPaymentLedger(db);
    const start = Date.now();
    const claim = (runsCode: boolean, signedBy: 'key' | 'account', atMs = start) =>
      ledger.claim(storableAuthorization(privateKeyToAddress(generatePrivateKey()), signedBy), {
        now: new Date(atMs),
        yearsAheadMax: 2,
        runsCode,
      });
    const claims = [];
    // EIP-7702: a key signs, and the code of its address decides.
    for (let index = 0; index < BURST; index += 1)
      claims.push(await claim(true, index % 2 === 0 ? 'key' : 'account'));
    const claimed = claims.flatMap((result) => (result.kind === 'claimed' ? [result.payment.id] : []));
    t.equal(claimed.length, REFUSALS_MAX, 'payments in progress count');
    t.match(claims.at(-1), { kind: 'refused_for_a_while', isOfAll: true, retryAfterSeconds: 10 });
    for (const id of claimed) {
      await ledger.setInFlight(
        id,
        { raw: '0x01', hash: `0x${id}`, nonce: 1, sender: RELAYER.address, isEmpty: false },
        new Date(start),
      );
      await ledger.setReverted(id, 'refused', new Date(start));
    }
    t.match(await claim(true, 'account', start + MINUTE_MS), {
      kind: 'refused_for_a_while',
      isOfAll: true,
      retryAfterSeconds: 59 * 60,
    });
    t.match(await claim(false, 'key', start + MINUTE_MS), { kind: 'claimed' });
    t.match(await claim(true, 'account', start + 60 * MINUTE_MS), { kind: 'claimed' }, 'an hour later');
  },
);
