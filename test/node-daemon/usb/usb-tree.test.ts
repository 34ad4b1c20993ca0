// From files as sysfs has them to devices and their ports, and the news of every change.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type UsbDevice, usbDevices } from '#node-daemon/usb/usb-device.ts';
import { UsbTreeReader } from '#node-daemon/usb/usb-tree.ts';
import { UsbWatch } from '#node-daemon/usb/usb-watch.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { FakeSysfs, quectel, STORAGE } from './fake-sysfs.ts';

t.test('a device is its place, its ids and the ports of its interfaces', async (t) => {
  const sysfs = new FakeSysfs(t);
  sysfs.plug('usb1', '1d6b:0002', [], '09');
  sysfs.plug('1-1', '05e3:0608', [{ class: '09' }], '09');
  sysfs.plug('1-1.10', '2c7c:0125', quectel(4));
  sysfs.plug('1-1.2', '2c7c:0125', [...quectel(0), { class: '01', offers: ['sound/card1'] }]);
  sysfs.plug('1-2', '12d1:1f01', STORAGE);
  sysfs.plug('2-1', '1bc7:0036', [{ class: '02', offers: ['tty/ttyACM0'] }]);
  const devices = usbDevices(new UsbTreeReader(sysfs.root).read());
  t.same(
    devices.map(({ usbPath, interfaces }) => [usbPath, ...interfaces.map(({ tty }) => tty ?? '-')]),
    [
      ['1-1.2', 'ttyUSB0', 'ttyUSB1', 'ttyUSB2', 'ttyUSB3', '-', '-'],
      ['1-1.10', 'ttyUSB4', 'ttyUSB5', 'ttyUSB6', 'ttyUSB7', '-'],
      ['1-2', '-'],
      ['2-1', 'ttyACM0'],
    ],
    'hubs are no devices; places in the order of their numbers',
  );
  t.same(devices[0]?.id, { vendor: '2c7c', product: '0125' });
  t.equal(devices[0]?.soundCard, 'card1');
  t.same(devices[2]?.interfaces, [{ number: 0, class: '08' }]);
});

t.test('names are read each time, attributes only of what is new', async (t) => {
  const sysfs = new FakeSysfs(t);
  sysfs.plug('1-1', '2c7c:0125', quectel(0));
  const reader = new UsbTreeReader(sysfs.root);
  const idOf = (devices: UsbDevice[]) => devices.map(({ id }) => id.product).join();
  t.equal(idOf(usbDevices(reader.read())), '0125');
  writeFileSync(join(sysfs.root, 'bus/usb/devices/1-1/idProduct'), '9999\n');
  t.equal(idOf(usbDevices(reader.read())), '0125', 'the same device: not read again');
  sysfs.unplug('1-1');
  sysfs.plug('1-1', '2c7c:0306', quectel(4));
  const [device] = usbDevices(reader.read());
  t.equal(device?.id.product, '0306', 'another device at the same place');
  t.equal(device?.interfaces[2]?.tty, 'ttyUSB6');
});

function watch(t: Test, sysfs: FakeSysfs) {
  const clock = new ManualClock();
  const reported: string[] = [];
  const reader = new UsbTreeReader(sysfs.root);
  const usbWatch = new UsbWatch({
    read: () => reader.read(),
    onChange: (devices) =>
      reported.push(
        devices.map(({ usbPath, interfaces }) => `${usbPath} ${interfaces[0]?.tty ?? '-'}`).join(', '),
      ),
    clock,
    log: silentLogger,
  });
  t.teardown(() => usbWatch.stop());
  return { clock, reported, usbWatch };
}

t.test('every change is reported within a second, and nothing else is', async (t) => {
  const sysfs = new FakeSysfs(t);
  const { clock, reported, usbWatch } = watch(t, sysfs);
  usbWatch.start();
  sysfs.plug('1-1', '2c7c:0125', quectel(0));
  clock.advance(1_000);
  clock.advance(10_000);
  sysfs.unplug('1-1');
  sysfs.plug('1-1', '2c7c:0125', quectel(4));
  usbWatch.check();
  sysfs.unplug('1-1');
  clock.advance(1_000);
  t.same(reported, ['', '1-1 ttyUSB0', '1-1 ttyUSB4', '']);
  usbWatch.stop();
  sysfs.plug('1-1', '2c7c:0125', quectel(0));
  clock.advance(10_000);
  t.equal(reported.length, 4, 'nothing after the stop');
});

t.test('a host without USB has no devices; a read that fails says nothing of them', async (t) => {
  const clock = new ManualClock();
  const reported: number[] = [];
  let failure = Object.assign(new Error('none'), { code: 'ENOENT' });
  const usbWatch = new UsbWatch({
    read: () => {
      throw failure;
    },
    onChange: (devices) => reported.push(devices.length),
    clock,
    log: silentLogger,
  });
  usbWatch.start();
  failure = Object.assign(new Error('too many files'), { code: 'EMFILE' });
  clock.advance(5_000);
  usbWatch.stop();
  t.same(reported, [0]);
});

t.test('a scan of 32 modems takes little', async (t) => {
  const sysfs = new FakeSysfs(t);
  for (let index = 0; index < 32; index += 1) sysfs.plug(`1-${index + 1}`, '2c7c:0125', quectel(index * 4));
  const reader = new UsbTreeReader(sysfs.root);
  reader.read();
  const before = process.cpuUsage();
  for (let times = 0; times < 20; times += 1) usbDevices(reader.read());
  const { user, system } = process.cpuUsage(before);
  const eachMs = (user + system) / 20 / 1000;
  t.comment(`${eachMs.toFixed(1)} ms of a core each second`);
  t.ok(eachMs < 50, 'below 5 % of a core, on any machine');
});
