// Modems that hang until the right thing is done, on a daemon whose clock runs fast: all come back by themselves.
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import type { SimulatedModem } from '#hardware-sim/modem/modem.ts';
import { fastClock } from '../fixtures/clocks/fast-clock.ts';
import { freePort } from '../fixtures/network/free-port.ts';
import { startDaemonOnUsb } from '../fixtures/nodes/daemon-on-usb.ts';
import { until } from '../fixtures/until.ts';

/** The ladder takes 72 s of the 90. At this speed a second that a busy machine adds counts as two; RECOVERY_SPEED=1 is the real thing. */
const SPEED = Number(process.env['RECOVERY_SPEED'] ?? 2);
const CURES = ['reopen', 'radio', 'restart', 'usb_reset'] as const;
const BACK_MS = 90_000;
const QUIET_MS = 500;
const STRANGER = '+12065559999';

/** Waits until the daemon has sent no command for a while. */
async function quiet(modems: readonly SimulatedModem[]): Promise<void> {
  const said = (): string => modems.map(({ commandLines }) => commandLines.join()).join();
  for (let before = ''; before !== said(); ) {
    before = said();
    await setTimeout(QUIET_MS);
  }
}

t.test('a modem that hangs is cured within 90 s, whatever cures it, and the others serve on', async (t) => {
  const { events, modem, plane, serves, simulator, slots } = await startDaemonOnUsb(t, {
    modems: CURES.length + 1,
    daemonClock: fastClock(SPEED),
  });
  const slotOf = (index: number): string => `1-1.${index + 1}`;
  for (let index = 0; index <= CURES.length; index += 1) await serves(slotOf(index), modem(index));
  const healthy: SimulatedModem = modem(CURES.length);
  // A hang in the middle of a long listing is another one: that command has a minute.
  await quiet(simulator.modems);
  const framesBefore = plane.frames.length;

  const hungAt = performance.now();
  for (const [index, cured_by] of CURES.entries()) modem(index).play(parseFault({ kind: 'stuck', cured_by }));
  const backMs = new Map<string, number>();
  let sent = 0;
  const latenciesMs: number[] = [];
  const areBack = async (): Promise<boolean> => {
    // The healthy one is at work all the time.
    const startedAt = performance.now();
    simulator.carrier.send({ from: STRANGER, to: healthy.identity.number, body: `${sent}` });
    sent += 1;
    await until('the message', () => plane.factsOf('sms_received').length === sent);
    latenciesMs.push(performance.now() - startedAt);
    for (const [index, cure] of CURES.entries()) {
      if (modem(index).faults.has('stuck') || slots().get(slotOf(index))?.state !== 'registered') continue;
      if (!backMs.has(cure)) backMs.set(cure, (performance.now() - hungAt) * SPEED);
    }
    return backMs.size === CURES.length;
  };
  await until('all are back', areBack, (2 * BACK_MS) / SPEED + 10_000);

  for (const [cure, ms] of backMs) {
    t.comment(`${cure}: back after ${(ms / 1000).toFixed(0)} s`);
    t.ok(ms <= BACK_MS, `${cure}: ${(ms / 1000).toFixed(0)} s`);
  }
  for (const [index, cure] of CURES.entries()) {
    const steps = events().filter(({ slot, kind }) => slot === slotOf(index) && kind === 'recovery_step');
    const details = steps.map(({ detail }) => detail);
    t.match(
      details.at(-1),
      new RegExp(`^${cure}: (silent|no_service)$`),
      'the last step is the one that cured',
    );
    t.comment(`${cure}: ${details.join(', ')}`);
  }
  const others = plane.frames
    .slice(framesBefore)
    .filter((frame) => frame.type === 'slots')
    .flatMap((frame) => frame.slots)
    .filter(({ slot }) => slot === slotOf(CURES.length));
  t.ok(others.every(({ state }) => state === 'registered'));
  t.notOk(events().some(({ slot }) => slot === slotOf(CURES.length)));
  latenciesMs.sort((one, other) => one - other);
  t.comment(`healthy modem: ${sent} messages, p50 ${latenciesMs[Math.floor(sent / 2)]?.toFixed(1)} ms`);
});

t.test('a modem that nothing cures is given up with an alarm, and is back when it is mended', async (t) => {
  const port = await freePort();
  const { alarms, events, modem, serves, slots } = await startDaemonOnUsb(t, {
    modems: 2,
    daemonClock: fastClock(20),
    config: `recovery: { usb_reset: off, limits_per_hour: { restart: 0 } }\nmetrics: { port: ${port} }`,
  });
  await serves('1-1.1', modem(0));
  await serves('1-1.2', modem(1));
  modem(0).play(parseFault({ kind: 'stuck', cured_by: 'usb_reset' }));
  await until('the end of the ladder', () => slots().get('1-1.1')?.reason === 'gave_up', 30_000);
  t.ok(alarms().includes('modem_given_up'));
  t.equal(slots().get('1-1.2')?.state, 'registered');
  const steps = events().map(({ detail }) => detail.split(':')[0]);
  t.notOk(
    steps.includes('usb_reset') || steps.includes('restart'),
    'steps that are switched off are not taken',
  );
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  t.match(metrics, 'simrack_node_recovery_steps_total{slot="1-1.1",step="radio",reason="silent"} 1');
  t.match(metrics, 'simrack_node_slot_state{slot="1-1.1",state="lost"} 1');
  t.match(metrics, 'simrack_node_link_up 1');
  modem(0).power.cycle(100);
  await serves('1-1.1', modem(0));
  await until('the end of the alarm', () => !alarms().includes('modem_given_up'));
});
