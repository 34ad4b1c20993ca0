// Six hours without a control plane, and a day in the whole: the daemon's clock is moved through them, the modems and the disk are real.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { startSimulator } from '#hardware-sim/simulator.ts';
import { serialPorts } from '#node-daemon/at/port.ts';
import { settingsOf } from '#node-daemon/config/options.ts';
import { startDaemon } from '#node-daemon/daemon/daemon.ts';
import { HangGuard } from '#node-daemon/system/hang-guard.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../fixtures/clocks/manual-clock.ts';
import { writeIdentity } from '../fixtures/nodes/enrolled-node.ts';
import { PortWatch } from '../fixtures/nodes/idle-port.ts';
import { isWhole } from '../fixtures/sweep.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { ScriptedControlPlane } from '../node-daemon/link/scripted-control-plane.ts';

const MODEMS = 2;
const AWAY_MS = (isWhole() ? 24 : 6) * 60 * 60 * 1000;
const MESSAGE_EVERY_MS = 15 * 60 * 1000;
const STEP_MS = 1_000;

t.test('messages of hours without a control plane come once, in order, with their times', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const plane = await ScriptedControlPlane.start();
  writeIdentity(dataDir, plane.url);
  const simulator = await startSimulator({ modems: MODEMS, dir: join(folder, 'rack') });
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const ports = new PortWatch(serialPorts({ clock: systemClock, guard: new HangGuard(systemClock, MODEMS) }));
  const settings = settingsOf({
    dataDir,
    modemPorts: simulator.modems.map(({ identity: { slot } }) => ({
      slot,
      path: join(simulator.dir, `${slot}-at`),
    })),
    config: undefined,
    logLevel: 'silent',
    sysfsRoot: join(folder, 'sys'),
    devRoot: join(folder, 'dev'),
  });
  const daemon = await startDaemon(settings, { log: silentLogger, clock, openPort: ports.open });
  t.teardown(async () => {
    await daemon.stop();
    await simulator.stop();
    await plane.stop();
  });
  const passUntil = (what: string, probe: () => boolean): Promise<unknown> =>
    until(
      what,
      async () => {
        await pass(clock, ports, STEP_MS);
        return probe();
      },
      60_000,
    );
  const allRegistered = (): boolean =>
    simulator.modems.every(({ identity: { slot } }) => plane.slotState(slot) === 'registered');
  await passUntil('modems in service', allRegistered);

  plane.refusal = 503;
  plane.socket?.terminate();
  const startedAt = clock.now();
  const sent = new Map<string, string[]>();
  for (let number = 1; clock.now() < startedAt + AWAY_MS; number += 1) {
    for (const { identity } of simulator.modems) {
      const body = number % 8 === 0 ? `${number} ${'long '.repeat(50)}` : `message ${number}`;
      sent.set(identity.iccid, [...(sent.get(identity.iccid) ?? []), body]);
      simulator.carrier.send({ from: '+12065559999', to: identity.number, body });
    }
    await pass(clock, ports, MESSAGE_EVERY_MS);
  }
  t.same(plane.factsOf('sms_received'), [], 'nothing came while the control plane was away');
  await passUntil('empty stores', () =>
    simulator.modems.every(({ stores }) => stores.used('ME') + stores.used('SM') === 0),
  );

  plane.refusal = undefined;
  const expected = [...sent.values()].flat().length;
  await passUntil('all messages', () => plane.factsOf('sms_received').length >= expected);
  const received = plane.factsOf('sms_received');
  for (const [iccid, bodies] of sent) {
    const ofSim = received.filter((fact) => fact.iccid === iccid);
    t.same(
      ofSim.map(({ body }) => body),
      bodies,
      'once, in the order of their arrival',
    );
    const times = ofSim.map(({ received_at: at }) => Date.parse(at));
    t.ok(
      times.every((time, index) => time >= startedAt + index * MESSAGE_EVERY_MS),
      'with the times at which they came',
    );
  }
});

/** Lets time pass for the daemon from timer to timer, never under a command: its answer needs real time. */
async function pass(clock: ManualClock, ports: PortWatch, ms: number): Promise<void> {
  for (const end = clock.now() + ms; clock.now() < end; ) {
    const deadline = performance.now() + 10_000;
    let turns = 0;
    while (turns < 3 || !ports.isIdle) {
      if (performance.now() > deadline) throw new Error('a port stays busy');
      await turn();
      turns += 1;
    }
    clock.advance(Math.max(1, Math.min(clock.untilNextMs, end - clock.now())));
  }
}
