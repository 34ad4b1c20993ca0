// The steps for a device that is plugged in and shows no modem.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { untilPortsAppear } from '#node-daemon/modem/port-appearance.ts';
import type { OutsideSteps } from '#node-daemon/modem/recovery/outside-steps.ts';
import { ModemLocation } from '#node-daemon/slot/location.ts';
import type { Place } from '#node-daemon/slot/place.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

const usb = { path: '1-1.2', id: { vendor: '2c7c', product: '0125' } };
const SWITCHED_OFF: Place = { ports: [], reason: 'no_port', usb };
const DISK: Place = { ports: [], reason: 'mass_storage', usb };
const WELL: Place = { ports: ['/dev/ttyUSB2'], usb };

function arrive(place: Place, outside: OutsideSteps) {
  const clock = new ManualClock();
  const location = new ModemLocation(clock, place);
  const stopping = new AbortController();
  const reached = untilPortsAppear({
    location,
    outside,
    log: silentLogger,
    signal: stopping.signal,
    isRefused: () => false,
    onAway: () => undefined,
  });
  const pass = async (ms: number): Promise<void> => {
    await turn();
    clock.advance(ms);
    await turn();
  };
  return { location, reached, pass, stop: () => stopping.abort() };
}

t.test('a device that a reset left switched off is reset again', async (t) => {
  const resets: string[] = [];
  const { location, reached, pass } = arrive(SWITCHED_OFF, {
    async resetUsb({ path }) {
      resets.push(path);
      location.move(WELL);
    },
  });
  await pass(19_000);
  t.same(resets, [], 'its driver may be on its way');
  await pass(2_000);
  await pass(60_000);
  t.same(await reached, WELL);
  t.equal(resets[0], usb.path);
});

t.test('a device that stays without ports is reset three times at most', async (t) => {
  let resets = 0;
  const { reached, pass, stop } = arrive(SWITCHED_OFF, {
    async resetUsb() {
      resets += 1;
      throw new Error('refused');
    },
  });
  for (let minute = 0; minute < 60; minute += 1) await pass(60_000);
  t.equal(resets, 3);
  stop();
  t.equal(await reached, undefined);
});

t.test('a disk is switched, never reset', async (t) => {
  const done: string[] = [];
  const { reached, pass, stop } = arrive(DISK, {
    switchMode: async () => void done.push('switch'),
    resetUsb: async () => void done.push('reset'),
  });
  for (let minute = 0; minute < 5; minute += 1) await pass(60_000);
  t.same(done, ['switch', 'switch', 'switch']);
  stop();
  await reached;
});
