// The connection to Postgres breaks at a claim: its payer does not wait for its own claim, and pays once.
import t, { type Test } from 'tap';
import { ALICE, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { addressOf } from '../../fixtures/database/postgres.ts';
import { CuttableLink } from '../../fixtures/network/cuttable-link.ts';
import { signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { present } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

type Loses = CuttableLink['losesAt'];

const LOSSES: Record<string, { error: string; loses: () => Loses }> = {
  'the commit of a claim arrives, and its answer is lost': {
    error: 'unavailable',
    loses() {
      const claiming = new WeakSet<object>();
      return (sent, connection) => {
        if (sent.includes('insert into "payments"')) claiming.add(connection);
        return claiming.has(connection) && /\bcommit\b/i.test(sent) ? 'answer' : undefined;
      };
    },
  },
  'the signed transaction of a claim does not arrive': {
    error: 'settlement_unavailable',
    loses: () => (sent) => (/update "payments"[\s\S]*\bin_flight\b/.test(sent) ? 'request' : undefined),
  },
};

async function setUp(t: Test) {
  const address = addressOf(await rig.postgres.createMigrated());
  const link = await CuttableLink.open(Number(address.port));
  address.port = String(link.port);
  // Time stands still: a claim that is not released stays one.
  const { url, service } = await rig.start(t, { databaseUrl: address.href, clock: new ManualClock() });
  t.teardown(async () => {
    await service.stop();
    await link.stop();
  });
  await rig.connect(t, url);
  return { url, link };
}

for (const [what, { error, loses }] of Object.entries(LOSSES))
  t.test(what, async (t) => {
    const { url, link } = await setUp(t);
    const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
    const header = await signPaymentHeader(url, ALICE.privateKey);
    let losses = 0;
    const lost = loses();
    link.losesAt = (...sent) => {
      const loss = losses === 0 ? lost(...sent) : undefined;
      losses += loss === undefined ? 0 : 1;
      return loss;
    };
    t.match(await present(url, header), { status: 503, body: { error }, retryAfterSeconds: Number });
    t.equal(losses, 1);
    t.match(await present(url, header), { status: 200, body: { number: String } });
    t.equal((await rig.chain.dollar.balanceOf(PAY_TO.address)) - before, PRICE);
  });
