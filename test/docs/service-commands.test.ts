// The commands of the control plane on the pages for operators and of the service, pasted in their order, each page beside a service of its own.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { ALICE, PAY_TO } from '../dev-stack/wallets.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import {
  type Answer,
  acceptAll,
  type Command,
  linkNode,
  type ScriptedNode,
  slotAt,
} from '../fixtures/nodes/scripted-node.ts';
import { validIccid } from '../fixtures/nodes/valid-iccid.ts';
import { buyNumber } from '../fixtures/payments/payer.ts';
import { availableAt } from '../fixtures/payments/presented.ts';
import { runCommand } from '../fixtures/run-command.ts';
import type { Ran } from '../fixtures/run-program.ts';
import { DATA_DIR } from '../fixtures/service/data-dir.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { startWebhookReceiver, WEBHOOK_SECRET } from '../fixtures/service/webhook-receiver.ts';
import { until } from '../fixtures/until.ts';
import { commandsIn } from './own-commands.ts';
import { blocksOf, readPage } from './pages.ts';
import { pastedShell } from './pasted-shell.ts';

const rig = await createRig();
/** As the pages name them. */
const CARDS = { first: '8901260852291234565', second: '8901260852291234573' };
const NUMBERS = { first: '+12065550123', second: '+12065550124' };
/** Without `--yes`, and without a terminal that could ask. */
const ASKS = /Nothing was changed\. Run .* --yes/;
/** `install` for a reader who is not root. */
const INSTALL = `n=$#
while [ $n -gt 0 ]; do case $1 in
  -o|-g) shift 2; n=$((n-2)) ;;
  *) set -- "$@" "$1"; shift; n=$((n-1)) ;;
esac; done
exec /usr/bin/install "$@"`;

const at = (index: number, slot: string, change: Partial<Slot> = {}): Slot =>
  slotAt(index, { slot, ...change });

/** A service with the racks of a page. `isSold`: Alice has the first number. */
async function world(t: Test, racks: Record<string, Slot[]>, isSold = false) {
  const { url, databaseUrl } = await rig.start(t);
  const linked: Array<{ node: ScriptedNode; slots: Slot[] }> = [];
  const link = async (nodeId: string, slots: Slot[]): Promise<void> => {
    const node = await linkNode(t, url, { nodeId, slots, onCommand });
    linked.push({ node, slots });
  };
  /** A text to a SIM of the racks arrives. */
  const onCommand = (command: Command): Answer => {
    const { to, body } = command.params as Record<'to' | 'body', string>;
    for (const { node, slots } of linked)
      for (const { iccid, number } of slots)
        if (command.name === 'send_sms' && number === to)
          void node.report({ ...received(body, NUMBERS.first), iccid: String(iccid) });
    return acceptAll(command);
  };
  for (const [nodeId, slots] of Object.entries(racks)) await link(nodeId, slots);
  if (isSold) await until('a number is on sale', async () => (await availableAt(url)) > 0);
  if (isSold) await buyNumber(url, ALICE.privateKey);
  const hook = await startWebhookReceiver(t);
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    DATA_DIR,
    PAY_TO: PAY_TO.address,
    RPC_URL: rig.chain.rpcUrl,
    CHAIN_ID: String(rig.chain.chainId),
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: WEBHOOK_SECRET,
  };
  /** The value that a page shows, and the one that it has here. */
  const real = new Map<string, string>();
  const ran: Array<Ran & { command: string }> = [];
  const control = (args: readonly string[]) =>
    runCommand(
      args.map((arg) => real.get(arg) ?? arg),
      env,
    );
  const shell = await pastedShell(t, {
    async 'control-plane'(args) {
      const first = await control(args);
      // The reader says yes.
      const outcome =
        first.status !== 0 && ASKS.test(first.stderr) ? await control([...args, '--yes']) : first;
      ran.push({ command: args.join(' '), ...outcome });
      return outcome;
    },
  });
  shell.install('install', INSTALL);
  shell.install('systemctl', '');

  /** Pastes each block of the page that has these words, or every one with commands. Each command must do its work. */
  async function paste(
    t: Test,
    page: string,
    words = 'control-plane ',
    refused: Record<string, RegExp> = {},
  ) {
    const blocks = blocksOf(readPage(`docs/${page}`)).filter(
      ({ code, language }) => language === 'sh' && code.includes(words) && /control-plane /.test(code),
    );
    t.not(blocks.length, 0, `${page} has ${words}`);
    for (const { code } of blocks) {
      ran.length = 0;
      const here = code.replaceAll(/\/(?:run|tmp|etc\/simrack)\//g, `${shell.folder}/`);
      const { stderr } = await shell.paste(`set +e\n${here}`);
      t.equal(
        ran.length,
        here.split('\n').flatMap((line) => commandsIn(line.replace(/ # .*$/, ''))).length,
        stderr,
      );
      for (const { command, status, ...said } of ran) {
        const [, refusal] = Object.entries(refused).find(([name]) => command.startsWith(name)) ?? [];
        if (refusal === undefined) t.equal(status, 0, `${page}: ${command}: ${said.stderr}`);
        else t.match({ status, ...said }, { status: 2, stderr: refusal }, `${page}: ${command}`);
      }
    }
    return ran.map(({ stdout }) => stdout).join('');
  }
  return { control, env, hook, link, paste, real, shell };
}

t.test('numbers.md', async (t) => {
  const { control, link, paste } = await world(t, {
    'rack-7': [at(1, '1-1.1', { iccid: CARDS.first, number: NUMBERS.first }), at(2, '1-1.2'), at(3, '1-1.3')],
  });
  await paste(t, 'service/numbers.md', 'number import');
  await link('rack-8', [at(4, '1-1.3', { iccid: CARDS.second, number: NUMBERS.second })]);
  await paste(t, 'service/numbers.md', 'slot transfer');
  await until('both are on sale', async () => {
    const { stdout } = await control(['number', 'list', '--state', 'available', '--full']);
    return Object.values(NUMBERS).every((number) => stdout.includes(number));
  });
  await paste(t, 'service/numbers.md', 'probe send');
  await paste(t, 'service/numbers.md', 'number out-of-service', { 'number release': /was retired/ });
  t.match(await paste(t, 'service/numbers.md', 'slot list --find'), '1-1.3');
  await paste(t, 'operators/swap-a-modem.md');
  await paste(t, 'operators/fleet-file.md', 'report costs');
  await paste(t, 'service/numbers.md', 'node revoke');
  t.notMatch((await control(['node', 'list'])).stdout, 'rack-7');
});

t.test('sim-died.md: the number gets the new card, another number, and more days', async (t) => {
  const { control, paste, real } = await world(
    t,
    {
      'rack-7': [
        at(1, '1-1.1', { number: NUMBERS.first }),
        at(3, '1-1.3', { iccid: validIccid(7), number: null }),
        at(4, '1-1.4', { number: '+12065550130' }),
      ],
    },
    true,
  );
  await paste(t, 'operators/sim-died.md', 'slot out-of-service');
  await paste(t, 'operators/sim-died.md', 'number move');
  t.match(
    (await control(['number', 'list', '--full'])).stdout,
    new RegExp(`\\+12065550123.*${validIccid(7)}`),
  );
  const { subscriptions } = JSON.parse((await control(['subscription', 'list', '--json'])).stdout) as {
    subscriptions: Array<{ id: string }>;
  };
  real.set('sub_0123', String(subscriptions[0]?.id));
  await paste(t, 'operators/sim-died.md', 'subscription extend');
});

t.test('monitor.md and refunds.md: alerts, operators of the console, reports and payments', async (t) => {
  const { control, hook, paste, real } = await world(t, { 'rack-7': [at(1, '1-1.1')] }, true);
  await paste(t, 'service/monitor.md');
  t.match(hook.taken, [{ body: { type: 'alerts.test' } }]);
  const { payments } = JSON.parse((await control(['payment', 'list', '--json'])).stdout) as {
    payments: Array<{ id: string }>;
  };
  real.set('pay_0123', String(payments[0]?.id));
  await paste(t, 'service/refunds.md', 'payment list --stuck');
});

t.test('keys.md: the relayer, and the next one', async (t) => {
  const { env, paste, shell } = await world(t, { 'rack-7': [at(1, '1-1.1')] });
  await paste(t, 'service/keys.md', 'relayer new');
  env['RELAYER_KEY_FILE'] = join(shell.folder, 'relayer.key');
  await paste(t, 'service/keys.md', 'relayer rotate');
  for (const name of ['relayer.key', 'relayer-2.key']) t.ok(existsSync(join(shell.folder, name)), name);
});
