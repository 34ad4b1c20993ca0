// The simulated USB tree as a program that searches for modems sees it: files, folders, links.
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import type { Simulator } from '#hardware-sim/simulator.ts';
import { usbPathOf } from '#hardware-sim/usb/usb-path.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startModem, startRack } from '../fixtures/rack.ts';
import { Terminal } from '../fixtures/terminal.ts';

function devicesOf(rack: Simulator): string {
  return join(rack.dir, 'sys/bus/usb/devices');
}

function attribute(rack: Simulator, device: string, name: string): string {
  return readFileSync(join(devicesOf(rack), device, name), 'latin1');
}

/** Terminals of a device by interface number, as its folders show them. */
function ttysOf(rack: Simulator, device: string): Record<string, string> {
  const folders = readdirSync(devicesOf(rack)).filter((name) => name.startsWith(`${device}:`));
  return Object.fromEntries(
    folders.flatMap((name) => {
      const tty = readdirSync(join(devicesOf(rack), name)).find((child) => child.startsWith('ttyUSB'));
      return tty === undefined ? [] : [[attribute(rack, name, 'bInterfaceNumber').trim(), tty]];
    }),
  );
}

t.test('a device has its attributes, each ended by a newline', async (t) => {
  const rack = await startRack(t);
  const read = (name: string) => attribute(rack, '1-1.2', name);
  t.equal(read('idVendor'), '2c7c\n');
  t.equal(read('idProduct'), '0125\n');
  t.equal(read('manufacturer'), 'Quectel\n');
  t.match(read('product'), /^EC25.*\n$/);
  t.match(read('serial'), /^\w+\n$/);
  t.equal(read('authorized'), '1\n');
  t.equal(read('busnum'), '1\n');
  t.equal(read('devpath'), '1.2\n');
  t.equal(read('power/control'), 'on\n');
  t.equal(read('bMaxPower'), '500mA\n');
  t.equal(attribute(rack, '1-1', 'bmAttributes'), 'e0\n', 'with a power supply');
  t.equal(attribute(rack, '1-1.2:1.2', 'bInterfaceClass'), 'ff\n');
  t.equal(attribute(rack, '1-1.2:1.2', 'bInterfaceNumber'), '02\n');
  t.equal(attribute(rack, '1-1', 'bDeviceClass'), '09\n', 'hubs are there, too');
  t.equal(attribute(rack, 'usb1', 'idVendor'), '1d6b\n');
});

t.test('seven modems to a hub, four hubs to a bus', async (t) => {
  t.same([0, 6, 7, 27, 28, 255].map(usbPathOf), ['1-1.1', '1-1.7', '1-2.1', '1-4.7', '2-1.1', '10-1.4']);
});

t.test('each make has its interfaces, and only the right ones answer', async (t) => {
  const rack = await startRack(t, { modems: 4, makes: ['quectel', 'simcom', 'huawei', 'huawei-e303'] });
  // Interfaces with terminals, and which of them are for commands (Linux `option` driver, ModemManager rules).
  const expected: [id: string, serial: string[], commands: string[]][] = [
    ['2c7c:0125', ['00', '01', '02', '03'], ['02', '03']],
    ['1e0e:9001', ['00', '01', '02', '03', '04'], ['02', '03']],
    ['12d1:1001', ['00', '01', '02'], ['00', '02']],
    ['12d1:1506', ['00', '01', '02'], ['00', '02']],
  ];
  for (const [index, [id, serial, commands]] of expected.entries()) {
    const device = `1-1.${index + 1}`;
    const ids = ['idVendor', 'idProduct'].map((name) => attribute(rack, device, name).trim());
    t.equal(ids.join(':'), id);
    const ttys = ttysOf(rack, device);
    t.same(Object.keys(ttys).sort(), serial);
    const terminals = Object.entries(ttys).map(([number, tty]) => {
      const terminal = new Terminal(join(rack.dir, 'dev', tty));
      t.teardown(() => terminal.close());
      terminal.write('AT\r');
      return { number, terminal };
    });
    for (const { number, terminal } of terminals) {
      if (commands.includes(number)) await terminal.expect('\r\nOK\r\n');
      else t.equal(await terminal.quietFor(100), '', `${id}: ${number}`);
    }
  }
});

t.test('the links of the slot lead to the same terminals', async (t) => {
  const rack = await startRack(t, { modems: 1 });
  const ttys = ttysOf(rack, '1-1.1');
  const same: [link: string, number: string][] = [
    ['m0-pcm', '01'],
    ['m0-at', '02'],
    ['m0-at2', '03'],
  ];
  for (const [link, number] of same) {
    t.equal(realpathSync(join(rack.dir, link)), realpathSync(join(rack.dir, 'dev', String(ttys[number]))));
  }
});

t.test('ttyUSB numbers are the lowest free: they change with the order of arrival', async (t) => {
  const rack = await startRack(t);
  const [first, second] = rack.modems;
  t.equal(ttysOf(rack, '1-1.1')['02'], 'ttyUSB2');
  t.equal(ttysOf(rack, '1-1.2')['02'], 'ttyUSB6');
  first?.power.unplug();
  second?.power.unplug();
  t.same(
    readdirSync(join(rack.dir, 'dev')).filter((name) => name.startsWith('tty')),
    [],
  );
  t.notOk(existsSync(join(devicesOf(rack), '1-1.1')));
  second?.power.plugIn();
  first?.power.plugIn();
  t.equal(ttysOf(rack, '1-1.2')['02'], 'ttyUSB2');
  t.equal(ttysOf(rack, '1-1.1')['02'], 'ttyUSB6');
});

t.test('0 and 1 in `authorized` take the terminals away and bring them back', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const authorized = join(devicesOf(rack), '1-1.1/authorized');
  await terminal.command('AT+CNMI=1,0,0,0,0');
  writeFileSync(authorized, '0');
  await terminal.expectHangUp();
  t.equal(modem.state, 'unauthorized');
  t.same(ttysOf(rack, '1-1.1'), {});
  t.equal(attribute(rack, '1-1.1', 'idVendor'), '2c7c\n', 'the device stays');
  writeFileSync(authorized, '1');
  await until('the terminals are back', () => modem.state === 'registered');
  t.equal(ttysOf(rack, '1-1.1')['02'], 'ttyUSB2');
  const again = await quietTerminal(t, modem.portPaths.at);
  t.match(await again.command('AT+CNMI?'), /\+CNMI: 2,1,0,0,0/);
  writeFileSync(authorized, '0');
  writeFileSync(authorized, '1\n');
  await again.expectHangUp();
  await until('and once more, at once', () => modem.state === 'registered');
});

t.test('storage: no terminals until the mode is switched', async (t) => {
  const clock = new ManualClock();
  const rack = await startRack(t, { clock, modems: 3, makes: ['huawei', 'quectel'], storageFirstMs: 80 });
  const [stick, other, second] = rack.modems;
  t.equal(attribute(rack, '1-1.1', 'idProduct'), '1446\n');
  t.equal(attribute(rack, '1-1.1:1.0', 'bInterfaceClass'), '08\n');
  t.equal(stick?.state, 'storage');
  t.equal(other?.state, 'registered', 'others come as they are');
  await post(`${rack.url}/modems/m2/mode-switch`, {});
  t.equal(second?.state, 'registered');
  clock.advance(80);
  t.equal(stick?.state, 'registered');
  t.equal(attribute(rack, '1-1.1', 'idProduct'), '1001\n');
  stick?.play(parseFault({ kind: 'storage' }));
  t.same(ttysOf(rack, '1-1.1'), {});
  stick?.clearFaults();
  t.equal(stick?.state, 'registered');
  other?.play(parseFault({ kind: 'storage', duration_ms: 30 }));
  t.equal(attribute(rack, '1-1.2', 'idVendor'), '05c6\n');
  clock.advance(30);
  t.equal(other?.state, 'registered');
});

t.test('power can be switched over HTTP', async (t) => {
  const rack = await startRack(t);
  const [modem] = rack.modems;
  const power = (body: object) => post(`${rack.url}/modems/m0/power`, body);
  t.match(await power({ action: 'off' }), { status: 200, body: { state: 'unplugged', usb: { ttys: [] } } });
  t.match(await power({ action: 'on' }), { body: { state: 'registered', usb: { path: '1-1.1' } } });
  t.match(await power({ action: 'cycle', off_ms: 20 }), { body: { state: 'unplugged' } });
  await until('the power is back', () => modem?.state === 'registered');
  t.match(await power({ action: 'explode' }), { status: 400 });
});

t.test('a modem can come back at another place, and devices can look the same', async (t) => {
  const rack = await startRack(t, { identicalSerials: true });
  t.equal(attribute(rack, '1-1.1', 'serial'), attribute(rack, '1-1.2', 'serial'));
  const [modem] = rack.modems;
  t.throws(() => modem?.play(parseFault({ kind: 'unplug', usb_path: '1-1.2' })), /usb_path/);
  modem?.play(parseFault({ kind: 'unplug', usb_path: '3-2' }));
  modem?.clearFaults();
  t.notOk(existsSync(join(devicesOf(rack), '1-1.1')));
  t.equal(Object.keys(ttysOf(rack, '3-2')).length, 4);
});

t.test('folders of other programs are left alone', async (t) => {
  const dir = temporaryFolder(t);
  mkdirSync(join(dir, 'dev'));
  await t.rejects(startRack(t, { dir }), /dev exists and was not made by a simulator/);
  t.ok(existsSync(join(dir, 'dev')));
});
