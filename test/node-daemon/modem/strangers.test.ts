// Devices that may be modems and may be something else: asked who they are, seldom, and nothing more.
import t, { type Test } from 'tap';
import type { NamedSlot } from '#node-daemon/config/node-config.ts';
import type { RackParts } from '#node-daemon/modem/rack.ts';
import type { UsbDevice } from '#node-daemon/usb/usb-device.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { runUntil } from '../../fixtures/clocks/running-clock.ts';
import { ScriptedModem, ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';
import { ScriptedHost } from './scripted-host.ts';

const ZTE = { vendor: '19d2', product: '0117' };

function device(id: UsbDevice['id'], ttys: number): UsbDevice {
  const interfaces = Array.from({ length: ttys }, (_, number) => ({
    number,
    class: 'ff',
    tty: `ttyUSB${number}`,
  }));
  return { usbPath: '1-1', id, interfaces };
}

async function setUp(t: Test, slots: readonly NamedSlot[] = [], parts: Partial<RackParts> = {}) {
  const clock = new ManualClock();
  const host = await ScriptedHost.start(t, clock);
  const resets: string[] = [];
  const outside = { resetUsb: async ({ path }: { path: string }) => void resets.push(path) };
  const rack = host.rack({ slots, createModem: (options) => host.create({ ...options, outside }), ...parts });
  rack.start();
  const pass = async (ms: number) => {
    const end = clock.now() + ms;
    await runUntil('time', () => clock.now() >= end, { clock, limitMs: ms + 10_000, stepMs: 1_000 });
  };
  return { clock, host, pass, rack, resets };
}

/** Takes every byte and answers nothing; the commands are kept. */
function mute(said: string[]): ScriptedPort {
  const port = new ScriptedPort();
  return port.on(/(?:)/, ({ input }) => {
    said.push(input);
    return undefined;
  });
}

t.test('a modem of an unknown make is used, without configuration', async (t) => {
  const { clock, host, rack } = await setUp(t);
  const modem = new ScriptedModem();
  host.plug('/dev/ttyUSB0', () => mute([]));
  host.plug('/dev/ttyUSB1', () => modem.plug());
  rack.devicesChanged([device(ZTE, 2)]);
  t.same(rack.slots(), [], 'it is no slot before it answers as a modem');
  const isServed = () => rack.slots()[0]?.state === 'registered';
  await runUntil('service', isServed, { clock, limitMs: 60_000 });
});

t.test('a device that does not answer AT is asked seldom, never treated, and gets no slot', async (t) => {
  const { host, pass, rack, resets } = await setUp(t);
  const said: string[] = [];
  for (const path of ['/dev/ttyUSB0', '/dev/ttyUSB1']) host.plug(path, () => mute(said));
  rack.devicesChanged([device({ vendor: '0403', product: '6010' }, 2)]);
  await pass(3 * 60 * 60_000);
  t.ok(host.opened.length >= 2, 'it was asked');
  t.ok(host.opened.length <= 2 * 8, `each port was opened ${host.opened.length / 2} times in three hours`);
  t.notOk(
    said.some((text) => /[+&^]/.test(text)),
    'nothing but whether anyone is there',
  );
  t.same(host.steps, []);
  t.same(resets, []);
  t.same(rack.slots(), []);
});

t.test('a device that is left alone is logged once, with the reason', async (t) => {
  const reported: object[] = [];
  const log = {
    ...silentLogger,
    info: (fields: object) => reported.push(fields),
  } as unknown as RackParts['log'];
  const { host, rack } = await setUp(t, [], { log });
  rack.devicesChanged([device({ vendor: '0403', product: '6001' }, 1)]);
  rack.devicesChanged([
    device({ vendor: '0403', product: '6001' }, 1),
    { ...device(ZTE, 0), usbPath: '1-2' },
  ]);
  t.same(host.opened, []);
  t.equal(reported.length, 1);
  t.match(reported[0], { usbPath: '1-1', usbId: '0403:6001', reason: /fewer than two/ });
});

t.test('with discovery off a modem that no slot names is asked who it is, and never treated', async (t) => {
  const slots = [{ name: 'mine', imei: '350000000000017' }];
  const { host, pass, rack, resets } = await setUp(t, slots, { discover: false });
  const said: string[] = [];
  host.plug('/dev/ttyUSB2', () => mute(said));
  rack.devicesChanged([device({ vendor: '2c7c', product: '0125' }, 4)]);
  await pass(60 * 60_000);
  t.ok(said.length > 0, 'it was asked');
  t.notOk(said.some((text) => /[+&^]/.test(text)));
  t.same(host.steps, []);
  t.same(resets, []);
});
