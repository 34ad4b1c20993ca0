// `npx simrack` as a process of its own, beside a stack: from no number to a received text, and how it ends when it cannot.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BUYERS, PAY_TO } from '../../dev-stack/wallets.ts';
import { PRICE } from '../../fixtures/paid-chain.ts';
import { createRig } from '../../fixtures/rig.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { slotAt } from '../../fixtures/scripted-node.ts';
import { temporaryFolder } from '../../fixtures/started-stack.ts';
import { received } from '../../fixtures/subscriber.ts';
import { FAR_END } from '../../fixtures/telephone.ts';

const rig = await createRig();

t.test('beside npm start: buy, look, text, wait for a text', async (t) => {
  const { url } = await rig.start(t);
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  const folder = temporaryFolder(t);
  const wallets = BUYERS.map(({ privateKey }) => ({ private_key: privateKey }));
  writeFileSync(join(folder, 'dev-stack.json'), JSON.stringify({ base_url: url, wallets }));
  const simrack = async (...args: string[]) => {
    const ran = await runProgram('simrack', args, { DATA_DIR: folder, XDG_CONFIG_HOME: folder });
    return { ...ran, json: () => JSON.parse(ran.stdout) as Record<string, unknown> };
  };
  const { number } = slotAt(1);
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);

  const dear = await simrack('subscribe', '--max', '1799.99', '--json');
  t.equal(dear.status, 1, 'more than is allowed is refused');
  t.match(JSON.parse(dear.stderr), { error: 'not_payable' });
  const early = await simrack('number');
  t.equal(early.status, 2, 'no token yet');
  t.match(early.stderr, /simrack subscribe, or recover/);

  const bought = await simrack('subscribe', '--way', 'mpp', '--json');
  t.equal(bought.status, 0, bought.stderr);
  t.match(bought.json(), { number, renewed: false, recovered: false });
  t.equal((await rig.chain.dollar.balanceOf(PAY_TO.address)) - before, PRICE);
  const file = join(folder, 'simrack', new URL(url).host.replace(':', '_'), 'default.json');
  t.equal(statSync(file).mode & 0o777, 0o600, 'only the owner can read the token');
  const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
  t.notMatch(bought.stdout + bought.stderr, new RegExp(token), 'which is not printed');

  t.equal((await simrack('number', '--print', 'number')).stdout, `${number}\n`);
  t.match((await simrack('send', '--to', FAR_END, '--body', 'hello')).json(), { status: 'queued' });
  const refused = await simrack('send', '--to', '911', '--body', 'hello', '--json');
  t.equal(refused.status, 1);
  t.match(JSON.parse(refused.stderr), { error: 'destination_not_allowed', status: 400 });

  const waiting = simrack('receive', '--wait', '30', '--from', FAR_END, '--json');
  node.sendFact(1, received('of another one', '+13105550199'));
  node.sendFact(2, received('Your code is 417209'));
  const got = await waiting;
  t.equal(got.status, 0);
  t.match(got.json(), { messages: [{ body: 'of another one' }, { body: 'Your code is 417209' }], count: 2 });
  const nothing = await simrack('receive', '--wait', '0', '--json');
  t.equal(nothing.status, 3, 'a wait that ends without a message');
  t.match(nothing.json(), { messages: [], count: 0 });
  t.match((await simrack('messages', '--direction', 'received', '--limit', '1')).json(), {
    messages: [{ body: 'Your code is 417209' }],
    count: 1,
  });
});

t.test('what is wrong with its use, and nobody there, have codes of their own', async (t) => {
  const folder = temporaryFolder(t);
  const env = { DATA_DIR: folder, XDG_CONFIG_HOME: folder };
  const unreachable = await runProgram('simrack', ['availability', '--url', 'http://127.0.0.1:9'], env);
  t.equal(unreachable.status, 3);
  t.match(unreachable.stderr, /^error: unreachable: /);
  t.equal((await runProgram('simrack', ['availability'], env)).status, 2);
  t.equal((await runProgram('simrack', ['sing'], env)).status, 2);
  const loose = join(folder, 'token.json');
  writeFileSync(loose, '{}', { mode: 0o644 });
  const read = ['number', '--url', 'http://127.0.0.1:9', '--token-file', loose];
  t.match(await runProgram('simrack', read, env), { status: 2, stderr: /can be read by others/ });
});
