// `control-plane number …` and `subscription list` as an operator runs them, beside a service, on both databases.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseNumbers } from '#control-plane/operator/cli/number-file.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };

const rig = await createRig();
// Its address as everyone writes it; the fourth account of the well-known phrase.
const ALICE_ADDRESS = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const ALICE_MASKED = '0x90F7…b906';

async function onPostgres(t: Test) {
  const { url, databaseUrl } = await rig.start(t);
  return { url, env: { DATABASE_URL: databaseUrl } };
}

async function onPglite(t: Test) {
  const dataDir = temporaryFolder(t);
  const service = await startControlPlane(rig.chain, { dataDir });
  t.teardown(() => service.stop());
  return { url: service.url, env: { DATA_DIR: dataDir } };
}

/** A well-known example, and another ICCID; the check digits were reckoned by hand. */
const SIM_1 = '89014103211118510720';
const SIM_2 = '8991101200003204514';

async function serveRack(t: Test, { url, env }: { url: string; env: object }) {
  const control = (...args: string[]) => runCommand(args, { ...env });
  const available = () => availableAt(url);
  const slots = [slotAt(1), slotAt(2, { state: 'denied' }), slotAt(3), slotAt(4)];
  const node = await linkNode(t, url, { nodeId: 'lab', slots });
  await until('on sale', async () => (await available()) === 3);
  const bought = await buyNumber(url, ALICE.privateKey);
  t.equal(bought.number, '+12065550001', 'the first');
  const file = join(temporaryFolder(t), 'numbers.csv');
  const bring = (text: string) => {
    writeFileSync(file, text);
    return control('number', 'import', file);
  };
  return { available, bought: { ...bought, url }, bring, control, node, slots };
}

t.test('beside a service on Postgres', TIMEOUT, async (t) => {
  const { available, bought, bring, control, node, slots } = await serveRack(t, await onPostgres(t));
  const out = ['number', 'out-of-service'];
  t.match(await control(...out, '+12065550003', '--reason', 'no signal in bay 3'), { status: 0, stderr: '' });
  t.equal(await available(), 1, 'not sold');
  await control(...out, bought.number, '--reason', 'SIM card to be exchanged', '--yes');
  const held = await fetch(`${bought.url}/number`, { headers: { Authorization: `Bearer ${bought.token}` } });
  t.equal(held.status, 200, 'its holder keeps it');
  const [table, full, second, free] = await Promise.all([
    control('number', 'list'),
    control('number', 'list', '--full'),
    control('number', 'list', '--json', '--limit', '2', '--after', '+12065550001'),
    control('number', 'list', '--state', 'available', '--limit', '1'),
  ]);
  const row1 =
    /^\+1206…0001 +out of service +in service +8901\d+ +- +lab +m1 +00101 +0x90F7…b906 +20.*SIM card to be exchanged$/m;
  t.match(table.stdout, row1);
  t.match(table.stdout, /^\+12065550002 +offline +- +8901\d+ +- +lab +m2 +00101 +- +-$/m);
  t.match(table.stdout, /^\+12065550003 +out of service .* no signal in bay 3$/m);
  t.notMatch(table.stdout, ALICE_ADDRESS);
  t.match(full.stdout, ALICE_ADDRESS);
  t.notMatch(table.stdout, '+12065550001');
  t.match(full.stdout, /^\+12065550001 /m);
  t.match(JSON.parse(second.stdout), {
    numbers: [{ number: '+12065550002' }, { number: '+12065550003' }],
    next: '+12065550003',
  });
  t.match(free.stdout, /^\+12065550004 +on sale /m);
  t.notMatch(free.stdout, '+12065550002');

  t.match(await control('number', 'in-service', '+12065550003'), { status: 0 });
  t.equal(await available(), 2);
  t.match(await control('number', 'retire', '+12065550003', '--yes'), { status: 0, stderr: '' });
  node.send({ type: 'slots', slots: [...slots.slice(0, 3), slotAt(4, { state: 'lost' })], alarms: [] });
  await until('its SIM has reported it again', async () => (await available()) === 0);
  const [mine, again, unknown, malformed, reasonless] = await Promise.all([
    control('number', 'retire', bought.number),
    control('number', 'retire', '+12065550003'),
    control('number', 'retire', '+12065559999'),
    control('number', 'in-service', '12065550003'),
    control(...out, '+12065550002'),
  ]);
  t.match(mine, { status: 2, stdout: '' });
  t.match(mine.stderr, new RegExp(`held by ${ALICE_MASKED} until ${bought.expires_at.slice(0, 10)}`));
  t.match(again, { status: 2, stderr: /was retired at 20/ });
  t.match(unknown, { status: 2, stderr: /There is no number/ });
  t.match(malformed, { status: 1, stderr: /E\.164.*\. Did you mean \+12065550003\?/ });
  t.match(reasonless, { status: 1, stderr: /--reason: required/ });

  const taken = await bring(`+12125550100,${SIM_1}\n+12065550001,${SIM_2}\n`);
  t.match(taken, { status: 2, stderr: /line 2: \+12065550001 has the SIM 8901/ });
  const good = `\uFEFF"+12125550100","${SIM_1}"\n\n+12065550003;${SIM_2}\n`;
  t.match(await bring(good), { status: 0, stdout: '1 added, 1 brought back, 0 already known\n' });
  t.match(await bring(good), { status: 0, stdout: '0 added, 0 brought back, 2 already known\n' });
  const other = await bring(`+12125550199,${SIM_1}`);
  t.match(other, { status: 2, stderr: `line 1: the SIM ${SIM_1} has the number +12125550100` });
  const [subscriptions, expired, payments] = await Promise.all([
    control('subscription', 'list', '--json', '--wallet', ALICE_ADDRESS.toLowerCase()),
    control('subscription', 'list', '--json', '--state', 'expired'),
    control('payment', 'list', '--json'),
  ]);
  t.match(JSON.parse(subscriptions.stdout), {
    subscriptions: [{ number: '+1206…0001', wallet: ALICE_MASKED, expires_at: bought.expires_at }],
    next: null,
  });
  t.same(JSON.parse(expired.stdout), { subscriptions: [], next: null });
  const [payment] = JSON.parse(payments.stdout).payments;
  t.match(payment, { state: 'applied', payer: ALICE_MASKED, number: '+1206…0001', value: '1800000000' });
  const [shown, refund, stuck] = await Promise.all([
    control('payment', 'show', payment.id, '--json'),
    control('payment', 'refund', payment.id, '--reason', 'asked for it', '--yes'),
    control('payment', 'list', '--stuck', '--json'),
  ]);
  const { events } = JSON.parse(shown.stdout);
  t.same(
    events.map(({ state }: { state: string }) => state),
    ['claimed', 'in_flight', 'applied'],
  );
  t.equal(events[2].transaction_hash, events[1].transaction_hash);
  t.match(refund, { status: 2, stderr: /is applied: its money bought a year/ });
  t.same(JSON.parse(stuck.stdout).payments, []);
});

t.test('beside a service on the embedded database, through its socket', TIMEOUT, async (t) => {
  const { available, bought, bring, control } = await serveRack(t, await onPglite(t));
  await control('number', 'out-of-service', '+12065550003', '--reason', 'no signal in bay 3');
  t.equal(await available(), 1, 'not sold');
  const retired = await control('number', 'retire', bought.number);
  t.match(retired, { status: 2, stderr: `held by ${ALICE_MASKED} until ` });
  const taken = await bring(`+12125550100,${SIM_1}\n+12065550001,${SIM_2}\n`);
  t.match(taken, { status: 2, stderr: /line 2: \+12065550001 has the SIM 8901/ });
  t.match(await bring(`+12125550101,${SIM_1}`), { status: 0, stdout: /^1 added/ });
  const list = (await control('number', 'list')).stdout;
  t.match(list, /^\+1206…0001 +held .* 0x90F7…b906 +20/m);
  t.match(list, /^\+12065550003 +out of service .* no signal in bay 3$/m);
  t.match(list, new RegExp(`^\\+12125550101 +offline +- +${SIM_1} +- +- `, 'm'));
  t.notMatch(list, '+12125550100', 'all or nothing');
});

t.test('each bad line of a list is named', async (t) => {
  const text = [
    'number,iccid',
    '# from the carrier',
    `+12125550100,${SIM_1}`,
    `+12125550101,${SIM_1.slice(0, -1)}1`,
    `+442071838750,${SIM_2}`,
    `+12125550100,${SIM_2}`,
    '+12125550102',
    `2125550103,${SIM_2}`,
    `+12125550104,${SIM_1}`,
    '+12125550105,8914',
    `+12125550106,${SIM_2},Rack 7`,
    `+12125550107,${SIM_2},rack-7,`,
  ].join('\r\n');
  const problem = (() => {
    try {
      return parseNumbers(text);
    } catch (error) {
      return (error as Error).message;
    }
  })();
  t.same(String(problem).split('\n'), [
    `line 4: ICCID "${SIM_1.slice(0, -1)}1" has a wrong check digit`,
    'line 5: +442071838750 is not a US mobile number',
    'line 6: +12125550100 is already in line 3',
    'line 7: is not "number,iccid" or "number,iccid,node"',
    'line 8: "2125550103" is not an E.164 number, such as +12065550123',
    `line 9: ${SIM_1} is already in line 3`,
    'line 10: ICCID "8914" needs 18 to 22 digits',
    'line 11: the node must be 1 to 32 of a-z, 0-9 and -',
    'line 12: is not "number,iccid" or "number,iccid,node"',
  ]);
});

t.test('a list may name the node of each SIM', async (t) => {
  const lines = ['number,iccid,node', `+12125550100,${SIM_1},rack-7`, `+12125550101;${SIM_2};`];
  t.same(parseNumbers(lines.join('\n')), [
    { line: 2, number: '+12125550100', iccid: SIM_1, node: 'rack-7' },
    { line: 3, number: '+12125550101', iccid: SIM_2 },
  ]);
});
