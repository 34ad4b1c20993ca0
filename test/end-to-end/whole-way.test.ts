// The whole way, once: npm start, pay with the unmodified client, send and receive over modems, stop, start again.
import t from 'tap';
import { type Address, createPublicClient, erc20Abi, http } from 'viem';
import type { DevStackFile } from '../dev-stack/dev-stack.ts';
import type { Wallet } from '../dev-stack/wallets.ts';
import { Agent, deliver, heard } from '../fixtures/agents/agent.ts';
import { PRICE } from '../fixtures/chain/paid-chain.ts';
import { buyNumber, paySubscribe } from '../fixtures/payments/payer.ts';
import { availableAt } from '../fixtures/payments/presented.ts';
import { skipWithoutNats } from '../fixtures/service/nats.ts';
import { isAlive, startStack } from '../fixtures/stacks/started-stack.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';

const OUTSIDE = '+13105550188';
const TEXTS = [
  'Hello, world',
  'GSM 7-bit: @£$¥èéùìòÇ ΔΦΓΛΩΠΨΣΘΞ ÄÖÑÜ§¿ {[~]}\\^|€ end@',
  'UCS-2: Привет, 你好, नमस्ते',
  'emoji: 👋🏽 😀 🏳️‍🌈',
  'a'.repeat(160),
  'line one\nline two\r\n"quoted" \u001a and ; AT+CMGD=1,4',
];

/** Processes of a service with three instances. */
const INSTANCES_OF_THREE = ['control-plane-1', 'control-plane-2', 'control-plane-3', 'nats', 'postgres'];

/** Dollars of an address, asked of the chain itself. */
function balanceOf(file: Pick<DevStackFile, 'rpc_url' | 'asset'>, address: Address): Promise<bigint> {
  const client = createPublicClient({ transport: http(file.rpc_url), cacheTime: 0 });
  return client.readContract({
    address: file.asset,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  });
}

for (const [chainId, instances] of [
  [84532, 1],
  [8453, 3],
] as const) {
  t.test(
    `pay, send, receive, stop, start again, on chain ${chainId}, with ${instances} instances`,
    { skip: instances > 1 && skipWithoutNats() },
    async (t) => {
      const dataDir = temporaryFolder(t);
      const env = { CHAIN_ID: String(chainId), MODEMS: '2', CONTROL_PLANES: String(instances) };
      const stack = await startStack(t, { dataDir, env });
      const file = stack.file();
      const { base_url: url, simulator_url: simulator, wallets } = file;
      t.match(file, {
        base_url: /^http:\/\/127\.0\.0\.1:\d+$/,
        rpc_url: /^http:\/\/127\.0\.0\.1:\d+$/,
        chain_id: chainId,
        asset: /^0x[0-9a-fA-F]{40}$/,
        pay_to: /^0x[0-9a-fA-F]{40}$/,
        pid: Number,
      });
      t.ok(wallets.length >= 3);
      t.equal(await availableAt(url), 2);

      const [first, second, third] = wallets.map(
        ({ address, private_key }): Wallet => ({ address, privateKey: private_key }),
      );
      if (first === undefined || second === undefined || third === undefined)
        throw new Error('too few wallets');
      const before = await balanceOf(file, file.pay_to);
      const alice = new Agent(url, await buyNumber(url, first.privateKey));
      const bob = new Agent(url, await buyNumber(url, second.privateKey));
      t.equal(
        (await balanceOf(file, file.pay_to)) - before,
        2n * PRICE,
        '2 × 1800 dollars moved on the chain',
      );
      t.equal((await paySubscribe(url, third.privateKey)).status, 503, 'the pool is empty');

      for (const body of TEXTS) {
        const sent = await alice.send(OUTSIDE, body);
        t.match(sent, { status: 200, body: { message_id: String, status: 'queued' } });
      }
      const onAir = await heard(simulator);
      t.same(
        onAir.map(({ from, to, body }) => ({ from, to, body })),
        TEXTS.map((body) => ({ from: alice.number, to: OUTSIDE, body })),
        'the carrier heard exactly the texts and numbers',
      );

      for (const body of TEXTS) t.ok(await deliver(simulator, { from: OUTSIDE, to: alice.number, body }));
      t.ok(
        await deliver(simulator, { from: OUTSIDE, to: alice.number, body: 'long '.repeat(100) }),
        'concatenated',
      );
      const claimed: string[] = [];
      await until('all are claimed', async () => {
        claimed.push(...(await alice.receive()).map(({ body }) => body));
        return claimed.length >= TEXTS.length + 1;
      });
      t.same(claimed, [...TEXTS, 'long '.repeat(100)], 'each once, in order');
      t.same(await alice.receive(), [], 'a claimed message is not claimed again');
      const received = (await alice.history()).filter(({ direction }) => direction === 'received');
      t.equal(received.length, TEXTS.length + 1, 'and stays in the history');

      t.equal((await alice.send(bob.number, 'from Alice 👋')).status, 200);
      t.equal((await bob.send(alice.number, 'from Bob €')).status, 200);
      for (const [to, from, body] of [
        [bob, alice, 'from Alice 👋'],
        [alice, bob, 'from Bob €'],
      ] as const) {
        const got = await until('the other one has it', async () => {
          const messages = await to.receive();
          return messages.length > 0 && messages;
        });
        t.match(got, [{ from_number: from.number, to_number: to.number, body }]);
      }

      const names = instances === 1 ? ['control-plane'] : INSTANCES_OF_THREE;
      t.same(Object.keys(file.pids).sort(), ['chain', 'hardware-sim', 'node-daemon', ...names].sort());
      t.equal(file.base_urls.length, instances);
      for (const own of file.base_urls) t.equal(await availableAt(own), 0, 'each instance answers by itself');
      t.equal(file.base_urls.includes(url), instances === 1, 'three are behind one address');
      const pids = [file.pid, ...Object.values(file.pids)];
      t.equal(await stack.interrupt(), 0);
      t.same(pids.filter(isAlive), [], 'Ctrl-C leaves no process behind');

      const again = await startStack(t, { dataDir, env });
      const back = new Agent(again.file().base_url, await buyNumber(again.file().base_url, first.privateKey));
      t.equal(back.number, alice.number, 'the wallet has the same number after a restart');
      t.equal((await back.history()).length, 2 * TEXTS.length + 3, 'and its history');
      t.equal((await back.send(OUTSIDE, 'still here')).status, 200);
    },
  );
}
