// `simrack subscribe` that is killed, doubled, interrupted: the money moves once, and the token is not lost.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { CredentialStore } from '#control-plane/client/commands/credentials.ts';
import { ALICE, PAY_TO } from '../../dev-stack/wallets.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { closePayments } from '../../fixtures/payments/closed-payments.ts';
import { type Between, paymentsBetween } from '../../fixtures/payments/payments-between.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const paidSoFar = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);
const paymentFile = `payment-${ALICE.address.toLowerCase()}.json`;

/** A service with two numbers, what stands before it, and a command line that knows the latter. */
async function shop(t: Test, handle: Between, reaches?: (attempt: number) => boolean) {
  const { url: target, databaseUrl } = await rig.start(t);
  await rig.connect(t, target, { slots: [slotAt(1), slotAt(2)] });
  const { url, payments } = await paymentsBetween(
    t,
    target,
    handle,
    reaches === undefined ? {} : { reaches },
  );
  const before = await paidSoFar();
  const paid = async (): Promise<bigint> => ((await paidSoFar()) - before) / PRICE;
  return { payments, paid, ...commandLine(t, url), url, databaseUrl };
}

const hold = async (): Promise<void> => undefined;

t.test('killed before the service has the payment: the same one is sent by the next run', async (t) => {
  const { payments, paid, start, simrack, kept, url } = await shop(
    t,
    async (attempt, _, pass) => (attempt === 1 ? hold() : pass()),
    (attempt) => attempt > 1,
  );
  const killed = await start(['subscribe'], (child) => {
    void until('the payment', () => payments.length === 1, 30_000).then(() => child.kill('SIGKILL'));
  });
  t.equal(killed.status, null);
  t.ok(existsSync(kept(url, paymentFile)), 'the payment is kept');
  const bought = await simrack('subscribe');
  t.match(bought, { status: 0, stderr: /finishing an earlier payment/ });
  t.match(bought.json(), { outcome: 'bought', number: slotAt(1).number });
  t.equal(payments[1], payments[0]);
  t.equal(await paid(), 1n);
  t.notOk(existsSync(kept(url, paymentFile)));
});

t.test('killed after the service has taken it: the next run gets a token for nothing', async (t) => {
  let wasAnswered = false;
  const { paid, start, simrack, kept, url, folder } = await shop(t, async (attempt, _, pass) => {
    wasAnswered = true;
    return attempt === 1 ? hold() : pass();
  });
  await start(['subscribe'], (child) => {
    void until('the answer', () => wasAnswered, 30_000).then(() => child.kill('SIGKILL'));
  });
  t.equal(await paid(), 1n);
  copyFileSync(kept(url, paymentFile), `${folder}/payment.json`);
  const recovered = await simrack('subscribe', '--json');
  t.match(recovered.json(), { outcome: 'recovered', number: slotAt(1).number });
  t.equal((await simrack('number')).status, 0, 'its token is good');

  // Killed when the token was stored and the payment not yet forgotten.
  renameSync(`${folder}/payment.json`, kept(url, paymentFile));
  t.match((await simrack('subscribe')).json(), { outcome: 'recovered' });
  t.match((await simrack('subscribe')).json(), { outcome: 'unchanged' });
  t.equal(await paid(), 1n);
  t.match((await simrack('subscribe', '--renew')).json(), { outcome: 'renewed' });
  t.equal(await paid(), 2n, 'a year more is paid by who asks for it');
});

t.test('Ctrl-C while it pays, and another one at the same time', async (t) => {
  const { payments, paid, start, simrack } = await shop(t, async (attempt, _, pass) =>
    attempt === 1 ? hold() : pass(),
  );
  let meanwhile: ReturnType<typeof simrack> | undefined;
  const interrupted = await start(['subscribe'], (child) => {
    void (async () => {
      await until('the payment', () => payments.length === 1, 30_000);
      meanwhile = simrack('subscribe', '--json');
      const { status, failure } = await meanwhile;
      t.equal(status, 5, 'to be tried again');
      t.match(failure(), { error: 'busy', message: 'another "simrack subscribe" is running' });
      child.kill('SIGINT');
    })();
  });
  t.match(interrupted, { status: 130, stderr: /payment is in progress: run the same command again/ });
  t.equal(payments.length, 1);
  t.match((await simrack('subscribe')).json(), { outcome: /^(bought|recovered)$/ });
  t.equal(new Set(payments).size, 1);
  t.equal(await paid(), 1n);
});

for (const platform of ['linux', 'darwin'] as const)
  t.test(`on ${platform}, a second run at the same time pays nothing`, async (t) => {
    const parts = { configHome: temporaryFolder(t), baseUrl: 'https://sms.example', platform };
    const pay = (work: () => Promise<unknown>): Promise<unknown> =>
      new CredentialStore(parts).whilePaying(ALICE.address, work);
    await pay(() =>
      t.rejects(
        pay(async () => t.fail('a second payment')),
        { name: 'BusyError' },
      ),
    );
    await pay(async () => t.pass('the first is over'));
  });

t.test('a payment with an unknown outcome has an exit code of its own', async (t) => {
  const pending = (response: ServerResponse): void => {
    response.writeHead(503, { 'retry-after': '400', 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'settlement_pending', message: 'wait', request_id: 'r-1' }));
  };
  const { simrack, kept, url, paid } = await shop(t, async (attempt, response, pass) =>
    attempt === 1 ? pending(response) : pass(),
  );
  const open = await simrack('subscribe', '--json');
  t.equal(open.status, 4);
  t.match(open.failure(), { error: 'settlement_pending', retry_after_seconds: 400 });
  t.ok(existsSync(kept(url, paymentFile)));
  t.match((await simrack('subscribe')).json(), { outcome: 'recovered' });
  t.equal(await paid(), 1n);
});

t.test('a token of a service that has forgotten the wallet does not keep it from buying', async (t) => {
  const { simrack, kept, url, paid } = await shop(t, async (_, __, pass) => pass());
  const file = kept(url, `${ALICE.address}.json`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const stale = { base_url: url, wallet: ALICE.address, token: 'of another database' };
  writeFileSync(file, JSON.stringify(stale), { mode: 0o600 });
  t.match((await simrack('subscribe')).json(), { outcome: 'bought' });
  t.equal(await paid(), 1n);
  t.equal((await simrack('number')).status, 0);
});

t.test('a kept payment that can move nothing is followed by one that does', async (t) => {
  const { simrack, kept, url, paid } = await shop(t, async (_, __, pass) => pass());
  t.equal((await simrack('subscribe')).status, 0);
  const file = kept(url, paymentFile);
  writeFileSync(file, JSON.stringify({ header: 'X-PAYMENT', value: 'AAAA' }), { mode: 0o600 });
  const secondTime = await simrack('subscribe', '--renew');
  t.match(secondTime, { status: 0, stderr: /moved no money \(invalid_encoding\): paying again/ });
  t.equal(await paid(), 2n);
  t.notOk(existsSync(file));
});

t.test(
  'a kept payment that an operator has closed: nothing else is paid until its file is removed',
  async (t) => {
    const { simrack, start, kept, url, paid, databaseUrl, payments } = await shop(
      t,
      async (attempt, _, pass) => (attempt === 1 ? hold() : pass()),
    );
    await start(['subscribe'], (child) => {
      void until('the money', async () => (await paid()) === 1n, 30_000).then(() => child.kill('SIGKILL'));
    });
    await until('it is no longer open', async () => {
      await closePayments(databaseUrl);
      return (await simrack('recover', '--json')).failure()['error'] === 'no_active_subscription';
    });
    for (const _ of [1, 2]) {
      const failed = await simrack('subscribe');
      t.match(failed, {
        status: 1,
        stderr: /payment_already_used.*closed this payment.*Contact the service/,
      });
      t.match(failed.stderr, kept(url, paymentFile));
    }
    t.equal(new Set(payments).size, 1);
    t.equal(await paid(), 1n);
    rmSync(kept(url, paymentFile));
    // The payment was closed before it had bought a year, or after.
    t.match((await simrack('subscribe')).json(), { outcome: /^(bought|renewed)$/ });
    t.equal(await paid(), 2n);
  },
);

t.test(
  'the token of another wallet in the same file is put aside, and a revoked one replaced, without paying',
  async (t) => {
    const target = (await rig.start(t)).url;
    await rig.connect(t, target, { slots: [slotAt(1), slotAt(2)] });
    const { simrack, folder } = commandLine(t, target);
    const tokenIn = (file: string): string =>
      (JSON.parse(readFileSync(file, 'utf8')) as { token: string }).token;
    const file = `${folder}/tokens/token.json`;
    t.equal((await simrack('subscribe', '--token-file', file)).status, 0);
    const token = tokenIn(file);
    const other = await simrack('subscribe', '--token-file', file, '--wallet', '1');
    t.match(other, { status: 0, stderr: /token of the previous wallet is now in/ });
    t.equal(tokenIn(`${folder}/tokens/${ALICE.address}.json`), token);
    t.not(tokenIn(file), token);

    const before = await paidSoFar();
    t.equal((await simrack('recover', '--wallet', '1', '--token-file', `${folder}/bob.json`)).status, 0);
    const again = await simrack('subscribe', '--token-file', file, '--wallet', '1');
    t.match(again.json(), { outcome: 'recovered' }, 'another program has ended its token');
    t.equal(await paidSoFar(), before);
  },
);
