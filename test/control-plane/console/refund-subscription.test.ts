// The end of a subscription with its refund, in the console: the amount and the payer first, then the money, once.
import t from 'tap';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { paidSubscriber } from '../../fixtures/payments/paid-subscriber.ts';
import { addOperator, signedIn } from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig({ hasInstances: true });

t.test('asks once more, sends once, and shows the receipt', { timeout: 380_000 }, async (t) => {
  const { databaseUrl, id, isActive, key, number, payments, sentBack } = await paidSubscriber(t, rig, {
    agoDays: 165,
  });
  const without = await rig.start(t, { databaseUrl, consolePort: 0 });
  const ann = await signedIn(String(without.service.consoleUrl), await addOperator(databaseUrl, 'ann'));
  const path = `/numbers/${encodeURIComponent(number)}`;
  t.notMatch(await ann.page(path), 'end-and-refund', 'no key, no button');

  const { service } = await rig.start(t, { databaseUrl, consolePort: 0, consoleRefundKeyFile: key });
  const bob = await signedIn(String(service.consoleUrl), await addOperator(databaseUrl, 'bob'));
  t.match(await bob.page(path), 'End the subscription and refund');
  const fields = { number, id };
  const query = new URLSearchParams({ ...fields, shown: '1 USDC', reason: 'x' });
  const question = await bob.page(`/actions/end-and-refund?${query.toString()}`);
  t.match(question, /It sends 981.369863 USDC \(199 of 365 days of pay_[0-9a-f]{24}\) to 0x90F7…b906\./);
  t.notMatch(question, 'value="1 USDC"', 'a link does not say what is sent');
  const shown = /name="shown" value="([^"]+)"/.exec(question)?.[1] ?? '';
  const end = (change: Record<string, string> = {}) =>
    bob.post('/actions/end-and-refund', { ...fields, reason: 'the SIM died', shown, ...change });

  const other = await end({ shown: shown.replace('981', '9') });
  t.equal(other.status, 409);
  t.match(await other.text(), /the amount is another one now/);
  t.equal((await end({ number: '+12065550002' })).status, 409);
  t.equal((await end({ reason: ' ' })).status, 400);
  t.equal((await end({ shown: '' })).status, 400);
  t.ok(await isActive());
  t.equal(await sentBack(), 0n);

  const both = await Promise.all([end(), end()]);
  t.same(
    both.map(({ status }) => status),
    [303, 303],
    'a double click',
  );
  t.equal((await end()).status, 303, 'again');
  t.equal(await sentBack(), (PRICE * 199n) / 365n, 'once');
  t.notOk(await isActive());
  const [payment] = await payments();
  const page = await bob.page(`/payments/${payment?.id}`);
  t.match(page, String(payment?.refund_hash));
  t.match(page, /981.369863 USDC/);
  t.notMatch(page, '/actions/refund', 'nothing is left to do');
  t.match(await bob.page('/payments'), /981.369863 USDC/);
  t.match(await bob.page('/audit'), /bob<.*end refund.*bob<.*end subscription.*981369863/s);
  t.notMatch(await bob.page(path), 'end-and-refund');
});
