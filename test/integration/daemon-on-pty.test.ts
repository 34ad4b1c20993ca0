// The real daemon, as a process, on the simulator's serial ports, with a scripted control plane.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { type Simulator, startSimulator } from '#hardware-sim/simulator.ts';
import { writeIdentity } from '../fixtures/nodes/enrolled-node.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { undisturbed } from '../fixtures/undisturbed.ts';
import { until } from '../fixtures/until.ts';
import { ScriptedControlPlane } from '../node-daemon/link/scripted-control-plane.ts';

const ROOT = join(import.meta.dirname, '../..');
const STRANGER = '+12065559999';

async function setUp(t: Test, { modems }: { modems: number } = { modems: 1 }) {
  const folder = temporaryFolder(t);
  const plane = await ScriptedControlPlane.start();
  const simulator = await startSimulator({ modems, dir: join(folder, 'rack') });
  const processes: ChildProcess[] = [];
  await mkdir(join(folder, 'data'));
  writeIdentity(join(folder, 'data'), plane.url);
  const startDaemon = (): ChildProcess => {
    const daemon = spawn(process.execPath, ['node-daemon/bin.cjs'], {
      cwd: ROOT,
      env: {
        ...process.env,
        DATA_DIR: join(folder, 'data'),
        MODEM_PORTS: simulator.modems
          .map(({ identity: { slot } }) => join(simulator.dir, `${slot}-at`))
          .join(','),
        LOG_LEVEL: process.env['DAEMON_LOG'] ?? 'error',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    processes.push(daemon);
    return daemon;
  };
  const kill = async (daemon: ChildProcess): Promise<void> => {
    if (daemon.exitCode !== null || daemon.signalCode !== null) return;
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  };
  t.teardown(async () => {
    for (const daemon of processes) await kill(daemon);
    await simulator.stop();
    await plane.stop();
  });
  const inService = (): Promise<unknown> =>
    until(
      'modems in service',
      () =>
        simulator.modems.every(({ identity: { slot } }) => plane.slotState(`${slot}-at`) === 'registered'),
      20_000,
    );
  const daemon = startDaemon();
  await inService();
  return { plane, simulator, daemon, startDaemon, kill, inService };
}

function modemAt(simulator: Simulator, index: number) {
  const modem = simulator.modems[index];
  if (modem === undefined) throw new Error(`no modem ${index}`);
  return modem;
}

const sms = (modem: { identity: { number: string } }, body: string, from = STRANGER) => ({
  from,
  to: modem.identity.number,
  body,
});

const send = (modem: { identity: { iccid: string } }, body: string, segments_max = 1) => ({
  iccid: modem.identity.iccid,
  to: STRANGER,
  body,
  segments_max,
});

t.test('messages arrive as facts: plain, emoji, long, short code and name', async (t) => {
  const { plane, simulator } = await setUp(t);
  const modem = modemAt(simulator, 0);
  const long = 'The quick brown fox jumps over the lazy dog. '.repeat(12);
  simulator.carrier.send(sms(modem, 'Hello [world] €'));
  simulator.carrier.send(sms(modem, 'Привет 😀'));
  simulator.carrier.send(sms(modem, long));
  simulator.carrier.send(sms(modem, '123456 is your code', '12345'));
  simulator.carrier.send(sms(modem, 'from a name', 'ACME Bank'));
  await until('five messages', () => plane.factsOf('sms_received').length === 5);
  const received = plane.factsOf('sms_received');
  t.same(
    new Set(received.map(({ from, body, partial }) => JSON.stringify([from, body, partial]))),
    new Set(
      [
        [STRANGER, 'Hello [world] €', false],
        [STRANGER, 'Привет 😀', false],
        [STRANGER, long, false],
        ['12345', '123456 is your code', false],
        ['ACME Bank', 'from a name', false],
      ].map((each) => JSON.stringify(each)),
    ),
  );
  t.ok(received.every(({ iccid }) => iccid === modem.identity.iccid));
  await until('an empty store', () => modem.stores.used('ME') + modem.stores.used('SM') === 0);
});

t.test('a message is sent once, reported as delivered, and a repeated id answers the same', async (t) => {
  const { plane, simulator } = await setUp(t);
  const modem = modemAt(simulator, 0);
  const first = await plane.command('send_sms', send(modem, 'Hi there'), { id: 'once' });
  t.match(first, { type: 'result', result: { status: 'accepted' } });
  const again = await plane.command('send_sms', send(modem, 'Hi there'), { id: 'once' });
  t.same(again, first);
  await until('a report', () => plane.factsOf('sms_report').length > 0);
  t.match(plane.factsOf('sms_report'), [{ command_id: 'once', status: 'delivered', recipient: STRANGER }]);
  t.equal([...simulator.carrier.heard()].length, 1);
  t.match([...simulator.carrier.heard()][0], { body: 'Hi there' });
});

t.test('the faults of sending have their outcomes', async (t) => {
  const { plane, simulator } = await setUp(t);
  const modem = modemAt(simulator, 0);
  modem.play(parseFault({ kind: 'cms_error', code: 38 }));
  const rejected = await plane.command('send_sms', send(modem, 'a'));
  t.match(rejected, { result: { status: 'rejected', code: 'cms_38' } });
  modem.play(parseFault({ kind: 'cms_error', code: 500 }));
  t.match(await plane.command('send_sms', send(modem, 'b')), { result: { status: 'unknown' } });
  modem.play(parseFault({ kind: 'lose_prompt' }));
  t.match(await plane.command('send_sms', send(modem, 'c')), { result: { status: 'rejected' } });
  t.match(await plane.command('send_sms', send(modem, 'after a lost prompt')), {
    result: { status: 'accepted' },
  });
  const long = 'x'.repeat(161);
  t.match(await plane.command('send_sms', send(modem, long)), { type: 'refusal', code: 'params_invalid' });
  t.match(await plane.command('send_sms', send(modem, long, 2)), { result: { status: 'accepted' } });
  t.same(
    [...simulator.carrier.heard()].map(({ body }) => body),
    ['after a lost prompt', 'x'.repeat(153), 'x'.repeat(8)],
    'each once, and nothing of what failed',
  );
});

t.test('lost and disturbed announcements, failing deletions: every message once', async (t) => {
  const { plane, simulator } = await setUp(t);
  const modem = modemAt(simulator, 0);
  modem.play(parseFault({ kind: 'delete_fails', count: 3, answer: 'ok' }));
  modem.play(parseFault({ kind: 'urc_mid_answer', count: 20 }));
  modem.play(parseFault({ kind: 'urc_lost', count: 2 }));
  for (let number = 1; number <= 10; number += 1) simulator.carrier.send(sms(modem, `message ${number}`));
  await until('ten messages', () => plane.factsOf('sms_received').length >= 10, 40_000);
  // A second or third delivery would come with the next sweeps.
  await until('an empty store', () => modem.stores.used('ME') === 0, 80_000);
  const bodies = plane.factsOf('sms_received').map(({ body }) => body);
  t.same(bodies.sort(), Array.from({ length: 10 }, (_, index) => `message ${index + 1}`).sort());
});

t.test('killed in the middle of a burst, the daemon loses nothing and repeats nothing', async (t) => {
  const { plane, simulator, daemon, startDaemon, kill, inService } = await setUp(t);
  const modem = modemAt(simulator, 0);
  const expected = Array.from({ length: 60 }, (_, index) => `burst ${index}`);
  for (const body of expected) simulator.carrier.send(sms(modem, body));
  await until('some of them', () => plane.facts.length >= 5);
  await kill(daemon);
  plane.frames.length = 0;
  startDaemon();
  await inService();
  const bodies = (): Map<number, string> =>
    new Map(
      plane.facts.map(({ sequence, fact }) => [sequence, fact.kind === 'sms_received' ? fact.body : '']),
    );
  await until('all of them', () => bodies().size >= 60, 20_000);
  await until('an empty store', () => modem.stores.used('ME') + modem.stores.used('SM') === 0, 20_000);
  t.same([...bodies().values()].sort(), expected.sort(), 'by sequence, each once');
});

t.test(
  'a modem that is unplugged, silent or reset is back by itself and the other never notices',
  async (t) => {
    const { plane, simulator } = await setUp(t, { modems: 2 });
    const [broken, healthy] = [modemAt(simulator, 0), modemAt(simulator, 1)];
    const slot = `${broken.identity.slot}-at`;
    /** Whether it has been in such a state since that many frames. */
    const was = (isIt: (state: string) => boolean, since: number) =>
      plane.frames
        .slice(since)
        .some(
          (frame) =>
            frame.type === 'slots' && frame.slots.some((each) => each.slot === slot && isIt(each.state)),
        );
    const othersLost = () =>
      plane
        .framesOf('slots')
        .some(({ slots }) => slots.some((each) => each.slot !== slot && each.state === 'lost'));
    broken.play(parseFault({ kind: 'unplug', back_after_ms: 1_500 }));
    await until('the loss', () => plane.slotState(slot) === 'lost');
    t.match(await plane.command('send_sms', send(broken, 'x')), {
      type: 'refusal',
      code: 'slot_unavailable',
    });
    t.match(await plane.command('send_sms', send(healthy, 'x')), { result: { status: 'accepted' } });
    simulator.carrier.send(sms(broken, 'while away'));
    const pluggedAt = Date.now() + 1_500;
    await until('the return', () => plane.slotState(slot) === 'registered', 10_000);
    t.comment(`back ${Date.now() - pluggedAt} ms after the device was`);
    await until('the message', () => plane.factsOf('sms_received').some(({ body }) => body === 'while away'));
    const beforeReset = plane.frames.length;
    broken.play(parseFault({ kind: 'reset' }));
    await until('the reset', () => was((state) => state !== 'registered', beforeReset));
    await until('the second return', () => plane.slotState(slot) === 'registered', 20_000);
    simulator.carrier.send(sms(broken, 'after the reset'));
    await until('the message', () =>
      plane.factsOf('sms_received').some(({ body }) => body === 'after the reset'),
    );
    t.notOk(othersLost());
  },
);

t.test('a stop by signal is clean', async (t) => {
  const { daemon } = await setUp(t);
  daemon.kill('SIGTERM');
  const [code] = await once(daemon, 'exit');
  t.equal(code, 0);
});

t.test('from +CMTI to the fact frame: a few milliseconds', async (t) => {
  const { plane, simulator } = await setUp(t);
  const modem = modemAt(simulator, 0);
  const median = async (): Promise<number> => {
    const latencies: number[] = [];
    for (let number = 0; number < 200; number += 1) {
      const before = plane.facts.length;
      const sentAt = performance.now();
      simulator.carrier.send(sms(modem, `latency ${number}`));
      const fact = await until('the fact', () => plane.facts[before]);
      latencies.push(fact.atMs - sentAt);
    }
    latencies.sort((a, b) => a - b);
    const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
    t.comment(
      `latency ms: p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, max ${at(0.9999).toFixed(1)}`,
    );
    return at(0.5);
  };
  const ms = await undisturbed(median, (value) => value < 50);
  t.ok(ms < 50, `${ms.toFixed(1)} ms: the bound is wide for busy machines`);
});

t.test('idle with 16 modems the process is small', async (t) => {
  const { daemon } = await setUp(t, { modems: 16 });
  const status = await readFile(`/proc/${daemon.pid}/status`, 'utf8');
  const rssMiB = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  t.comment(`RSS with 16 modems: ${rssMiB.toFixed(0)} MiB`);
  t.ok(rssMiB < 160, 'run from the sources, with the loader of TypeScript in it');
});
