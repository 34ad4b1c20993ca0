// `simrack` beside a stack: from no number to a received text.
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { BUYERS, PAY_TO } from '../../dev-stack/wallets.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { FAR_END } from '../../fixtures/agents/telephone.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const paidSoFar = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

t.test('beside npm start: buy, look, text, get a new token', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url);
  const { simrack, start, kept } = commandLine(t, url);
  const { number } = slotAt(1);
  const before = await paidSoFar();

  t.same((await simrack('availability')).json(), { available: 1 });
  const dear = await simrack('subscribe', '--max', '1799.99', '--json');
  t.equal(dear.status, 1, 'more than is allowed is refused');
  t.match(dear.failure(), {
    error: 'not_payable',
    message: 'the service asks for 1,800 USDC, more than the maximum of 1,799.99 USDC',
  });
  const early = await simrack('number');
  t.match(
    early,
    { status: 2, stdout: '', stderr: /run ".*simrack subscribe" or "… recover"/ },
    'no token yet',
  );

  const bought = await start(['subscribe', '--protocol', 'mpp', '--json']);
  t.equal(bought.status, 0, bought.stderr);
  t.same(Object.keys(bought.json()), ['number', 'expires_at', 'outcome'], 'the token is not printed');
  t.match(bought.json(), { number, outcome: 'bought' });
  t.equal(bought.stderr, '', 'with --json no progress is printed');
  t.equal((await paidSoFar()) - before, PRICE);
  const file = kept(url, 'default.json');
  const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
  t.equal(statSync(file).mode & 0o777, 0o600, 'only the owner can read the token');
  t.equal(statSync(dirname(file)).mode & 0o777, 0o700, 'in a folder of its own');

  t.equal((await simrack('number', '--print', 'number')).stdout, `${number}\n`);
  t.match((await simrack('send', '--to', FAR_END, '--body', 'hello')).json(), { status: 'queued' });
  const refused = await simrack('send', '--to', '911', '--body', 'hello', '--json');
  t.equal(refused.status, 1);
  t.match(refused.failure(), { error: 'destination_not_allowed', status: 400, request_id: String });

  const meant = await simrack('send', '--to', '(310) 555-0188', '--body', 'hello');
  t.match(meant, { status: 1, stderr: /^error: invalid_request: .*Did you mean \+13105550188\?\n$/ });

  const empty = await simrack('subscribe', '--wallet', '1');
  t.match(empty, { status: 1, stdout: '', stderr: /pool_exhausted: .*\n.*simrack waitlist/s });
  t.match((await simrack('waitlist', 'alice@example.com')).json(), {
    status: 'added',
    registered_at: String,
  });
  t.match(await simrack('waitlist', 'alice'), { status: 1, stderr: /^error: invalid_email: / });

  const recovered = await simrack('recover', '--print', 'token');
  t.match(recovered, { status: 0, stderr: /the token is in / });
  t.not(recovered.stdout.trim(), token, '--print token prints the token');
  t.equal((await simrack('number')).status, 0, 'and it is in use');
  const revoked = await simrack('number', '--token', token);
  t.match(revoked, { status: 1, stderr: /unauthorized: .*\n.*simrack recover/s });
});

t.test('messages are claimed, waited for and listed', async (t) => {
  const { url, node, headers } = await subscriber(t, rig);
  const { simrack } = commandLine(t, url, { token: headers.Authorization.replace('Bearer ', '') });
  const code = await simrack('receive', '--wait', '0', '--from', '310');
  t.match(code, { status: 3, stderr: /310 is not E\.164: only a text from the short code 310 fits/ });
  const waiting = simrack('receive', '--wait', '60', '--from', FAR_END, '--json');
  node.sendFact(1, received('of another one', '+13105550199'));
  node.sendFact(2, received('Your code is 417209'));
  const got = await waiting;
  t.match(got, { status: 0, stderr: '' });
  t.equal(got.stdout.trim().split('\n').length, 1, 'one line');
  t.match(got.json(), { messages: [{ body: 'of another one' }, { body: 'Your code is 417209' }], count: 2 });
  const nothing = await simrack('receive', '--wait', '0', '--json');
  t.equal(nothing.status, 3, 'a wait that ends without a message');
  t.match(nothing.json(), { messages: [], count: 0 });
  t.match(nothing.failure(), { error: 'timeout' });

  await node.report(received('third'), received('fourth'));
  const misspelt = await simrack('receive', '--print', 'text');
  t.match(
    misspelt,
    { status: 2, stdout: '', stderr: /no field "text"; its fields are .*body/ },
    'nothing is claimed in vain',
  );
  t.equal((await simrack('receive', '--print', 'body')).stdout, 'third\nfourth\n');
  const newest = await simrack('messages', '--direction', 'received', '--limit', '1');
  t.match(newest.json(), { messages: [{ body: 'fourth' }], count: 1 });
  t.equal(
    (await simrack('messages', '--limit', '3', '--print', 'body')).stdout,
    'fourth\nthird\nYour code is 417209\n',
  );

  t.match(await simrack('messages', '--limit', '0'), { status: 2, stdout: '', stderr: /1 or more/ });

  for (const wrong of [
    ['delete'],
    ['delete', '--all', '7'],
    ['delete', 'all'],
    ['delete', '7', '--since', '2026-01-01'],
  ])
    t.match(await simrack(...wrong), { status: 2, stdout: '' }, wrong.join(' '));
  const [id] = (await simrack('messages', '--limit', '1', '--print', 'id')).stdout.split('\n');
  t.same((await simrack('delete', String(id))).json(), { deleted: 1 });
  t.match(await simrack('delete', String(id), '--print', 'deleted'), {
    status: 0,
    stdout: '0\n',
    stderr: /no such message/,
  });
  t.same((await simrack('delete', '--direction', 'sent')).json(), { deleted: 0 });
  t.same((await simrack('delete', '--all')).json(), { deleted: 3 });
  t.match((await simrack('messages')).json(), { count: 0 });
});

t.test('two wallets in one home, and a token that is kept elsewhere', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const { simrack, kept, folder } = commandLine(t, url);
  t.equal((await simrack('subscribe')).status, 0);
  const second = await simrack('subscribe', '--wallet', '1', '--print', 'token');
  t.match(second, { status: 0 });
  const tokens = BUYERS.slice(0, 2).map(
    ({ address }) =>
      (JSON.parse(readFileSync(kept(url, `${address}.json`), 'utf8')) as { token: string }).token,
  );
  t.equal(second.stdout.trim(), tokens[1]);
  t.not(tokens[0], tokens[1]);
  t.match((await simrack('number')).json(), { number: slotAt(1).number }, 'the first, where none is named');
  t.match((await simrack('number', '--wallet', '1')).json(), { number: slotAt(2).number });
  mkdirSync(`${folder}/elsewhere`);
  const elsewhere = `${folder}/elsewhere/token.json`;
  t.equal((await simrack('recover', '--token-file', elsewhere)).status, 0);
  t.equal(statSync(elsewhere).mode & 0o777, 0o600);
  t.equal((await simrack('number', '--token-file', elsewhere)).status, 0);
});
