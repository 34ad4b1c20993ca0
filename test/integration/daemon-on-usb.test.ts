// Devices that come, go, move, turn and flap on the simulated USB: the right modem in the right slot, all the time.
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { SIM_READING_MAX_MS } from '#node-daemon/modem/sim/sim-guard.ts';
import { fastClock } from '../fixtures/clocks/fast-clock.ts';
import { ManualClock } from '../fixtures/clocks/manual-clock.ts';
import { startDaemonOnUsb } from '../fixtures/nodes/daemon-on-usb.ts';
import { until } from '../fixtures/until.ts';

const STRANGER = '+12065559999';

/** Terminals that this process has open. */
function openTerminals(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('/dev/pts/');
    } catch {
      return false;
    }
  }).length;
}

t.test('with nothing configured every modem on the bus is used, whatever its make', async (t) => {
  const { modem, plane, serves, simulator, alarms } = await startDaemonOnUsb(t, {
    modems: 4,
    makes: ['quectel', 'simcom', 'huawei-e303', 'huawei'],
    identicalSerials: true,
  });
  for (const [index, path] of ['1-1.1', '1-1.2', '1-1.3', '1-1.4'].entries()) {
    const slot = await serves(path, modem(index));
    t.match(slot, { usb_path: path, iccid: modem(index).identity.iccid, reason: null });
  }
  t.same(alarms(), []);
  for (let index = 0; index < 4; index += 1) {
    const to = modem(index).identity.number;
    simulator.carrier.send({ from: STRANGER, to, body: `for ${index}` });
  }
  await until('four messages', () => plane.factsOf('sms_received').length === 4);
  for (const { iccid, body } of plane.factsOf('sms_received')) {
    t.equal(body, `for ${simulator.modems.findIndex(({ identity }) => identity.iccid === iccid)}`);
  }
});

t.test('no modem at all is an alarm, and one that comes is used', async (t) => {
  const { alarms, modem, serves, simulator } = await startDaemonOnUsb(t, { modems: 1 });
  await serves('1-1.1', modem(0));
  modem(0).play(parseFault({ kind: 'unplug' }));
  await until('the alarm', () => alarms().includes('no_modem'));
  simulator.modems[0]?.clearFaults();
  await serves('1-1.1', modem(0));
  await until('its end', () => alarms().length === 0);
});

t.test('ports come back under other numbers, again and again: same slots, no port left open', async (t) => {
  const host = await startDaemonOnUsb(t, {
    modems: 3,
    config: 'slots: [{ name: top, imei: 867588040000016 }, { name: left, usb_path: 1-1.2 }]',
  });
  const { modem, serves, slots } = host;
  const areServed = async () => {
    await serves('top', modem(0));
    await serves('left', modem(1));
    await serves('1-1.3', modem(2));
  };
  await areServed();
  const before = openTerminals();
  const namesOf = (index: number) =>
    modem(index)
      .usb.ttys.map(({ tty }) => tty)
      .join();
  for (let round = 0; round < 5; round += 1) {
    const names = [0, 1, 2].map(namesOf);
    for (const index of [0, 1, 2]) {
      modem(index).play(parseFault({ kind: 'port_gone', back_after_ms: 1_000 + 50 * ((index + round) % 3) }));
    }
    await until('the loss', () => [...slots().values()].every(({ state }) => state === 'lost'));
    await areServed();
    for (const index of [0, 1, 2]) t.not(namesOf(index), names[index], 'other numbers');
  }
  t.equal(openTerminals(), before);
  t.equal(slots().size, 3);
});

t.test('a modem that is moved keeps the slot that names it, and a card is found where it is', async (t) => {
  const host = await startDaemonOnUsb(t, {
    modems: 2,
    config: 'slots: [{ name: top, imei: 867588040000016 }]',
  });
  const { modem, plane, serves, simulator, slots } = host;
  await serves('top', modem(0));
  await serves('1-1.2', modem(1));
  const [first, second] = [modem(0).identity, modem(1).identity];
  modem(0).play(parseFault({ kind: 'unplug', back_after_ms: 300, usb_path: '1-1.7' }));
  await until('the move', () => slots().get('top')?.usb_path === '1-1.7');
  await serves('top', modem(0));
  t.same([...slots().keys()].sort(), ['1-1.2', 'top']);
  simulator.simCards.swap(modem(0), modem(1), { isAnnounced: true });
  await until('the swap', () => slots().get('top')?.iccid === second.iccid);
  await until('the other', () => slots().get('1-1.2')?.iccid === first.iccid);
  await serves('top', modem(0));
  await serves('1-1.2', modem(1));
  const sent = await plane.command('send_sms', {
    iccid: first.iccid,
    to: STRANGER,
    body: 'moved',
    segments_max: 1,
  });
  t.match(sent, { type: 'result', result: { status: 'accepted' } });
  t.equal([...simulator.carrier.heard()].at(-1)?.from, first.number, 'sent by the card, wherever it is');
});

t.test('cards that are exchanged without a word are never taken for each other', async (t) => {
  const { modem, plane, serves, simulator } = await startDaemonOnUsb(t, { modems: 2 });
  await serves('1-1.1', modem(0));
  await serves('1-1.2', modem(1));
  const cards = [0, 1].map((index) => modem(index).identity);
  for (let round = 0; round < 3; round += 1) {
    // Older than the last reading may be, which came with the round before.
    await setTimeout(1.2 * SIM_READING_MAX_MS);
    simulator.simCards.swap(modem(0), modem(1), { isAnnounced: false });
    for (const { number } of cards) {
      simulator.carrier.send({ from: STRANGER, to: number, body: `to ${number}` });
    }
    for (const { iccid, number } of cards) {
      const params = { iccid, to: STRANGER, body: `from ${number}`, segments_max: 1 };
      await until('one that is sent', async () => {
        const { type } = await plane.command('send_sms', params);
        return type === 'result';
      });
    }
    await until('both messages', () => plane.factsOf('sms_received').length === 2 * (round + 1));
  }
  const numbers = new Map(cards.map(({ iccid, number }) => [iccid, number]));
  for (const { iccid, body } of plane.factsOf('sms_received')) t.equal(body, `to ${numbers.get(iccid)}`);
  for (const { from, body } of simulator.carrier.heard()) t.equal(body, `from ${from}`);
});

t.test('of two daemons on one host one has the modem, and the other says that it is denied', async (t) => {
  const host = await startDaemonOnUsb(t, { modems: 1 });
  const { modem, serves, simulator } = host;
  await serves('1-1.1', modem(0));
  const other = await host.startAnother();
  const reason = () => other.slots().get('1-1.1')?.reason;
  await until('the other says so', () => reason() === 'denied');
  t.equal(other.slots().get('1-1.1')?.state, 'lost');
  const to = modem(0).identity.number;
  const send = (body: string) => simulator.carrier.send({ from: STRANGER, to, body });
  send('for the first');
  await until('the message', () => host.plane.factsOf('sms_received').length === 1);
  t.equal(host.slots().get('1-1.1')?.state, 'registered');
  t.equal(reason(), 'denied');
  t.same(other.events(), [], 'nothing was done to the modem');
  await host.stop();
  await other.serves('1-1.1', modem(0));
  send('for the second');
  await until('the next message', () => other.plane.factsOf('sms_received').length === 1);
  t.match(other.plane.factsOf('sms_received'), [{ body: 'for the second' }]);
});

t.test('a stick that shows its disk first says so and is used when it turns', async (t) => {
  const clock = new ManualClock();
  const { modem, serves, slots } = await startDaemonOnUsb(t, {
    clock,
    modems: 1,
    makes: ['huawei-e303'],
    storageFirstMs: 3_000,
  });
  await until('the disk', () => slots().get('1-1.1')?.reason === 'mass_storage');
  clock.advance(3_000);
  await serves('1-1.1', modem(0));
});

t.test('a stick that never turns by itself is turned by the configured command', async (t) => {
  const { modem, serves, slots } = await startDaemonOnUsb(t, {
    modems: 1,
    makes: ['huawei-e303'],
    storageFirstMs: 0,
    daemonClock: fastClock(4),
    config: 'mode_switch: [curl, -sS, -X, POST, "%URL%/modems/m0/mode-switch"]',
  });
  modem(0).play(parseFault({ kind: 'storage' }));
  await until('the disk', () => slots().get('1-1.1')?.reason === 'mass_storage');
  await serves('1-1.1', modem(0));
});

t.test('devices that are ignored, or not named while discovery is off, are left alone', async (t) => {
  const { modem, serves, slots } = await startDaemonOnUsb(t, {
    modems: 3,
    config: 'discover: false\nslots: [{ name: a, usb_path: 1-1.1 }, { name: b, imei: 867588040000024 }]',
  });
  await serves('a', modem(0));
  await serves('b', modem(1));
  t.same([...slots().keys()].sort(), ['a', 'b']);
  t.notOk(
    modem(2).commandLines.some((line) => /CMG|CPMS|CNMI|CPIN/.test(line)),
    'nothing was done to it',
  );
});

t.test(
  'a device that flaps costs little, is opened no faster than it comes, and is back when it rests',
  async (t) => {
    const { modem, plane, serves } = await startDaemonOnUsb(t, { modems: 2 });
    await serves('1-1.1', modem(0));
    await serves('1-1.2', modem(1));
    const framesBefore = plane.frames.length;
    const before = process.cpuUsage();
    const startedAt = performance.now();
    let flaps = 0;
    while (performance.now() - startedAt < 5_000) {
      modem(0).play(parseFault({ kind: 'port_gone', back_after_ms: 150 }));
      flaps += 1;
      await setTimeout(300);
    }
    const { user, system } = process.cpuUsage(before);
    const share = (user + system) / 1000 / (performance.now() - startedAt);
    t.comment(`${(share * 100).toFixed(1)} % of a core for daemon, simulator and ${flaps} flaps`);
    // Simulator and control plane are in this process too: the daemon alone has less.
    t.ok(share < 0.25, 'no tight loop');
    t.ok(plane.frames.length - framesBefore < flaps * 12, 'a handful of frames each time');
    t.notOk(
      plane.frames
        .slice(framesBefore)
        .some(
          (frame) =>
            frame.type === 'slots' &&
            frame.slots.some((slot) => slot.slot === '1-1.2' && slot.state !== 'registered'),
        ),
      'the other one notices nothing',
    );
    await serves('1-1.1', modem(0));
  },
);
