// The rack's view of a USB device: a modem with ports in the right order, a disk that will be one, or nothing.
import t from 'tap';
import { isModem, mayBeModem, placeOf } from '#node-daemon/slot/place.ts';
import type { UsbDevice } from '#node-daemon/usb/usb-device.ts';

function device(
  id: string,
  interfaces: Record<number, string | undefined>,
  interfaceClass = 'ff',
): UsbDevice {
  const [vendor = '', product = ''] = id.split(':');
  return {
    usbPath: '1-1.2',
    id: { vendor, product },
    interfaces: Object.entries(interfaces).map(([number, tty]) => ({
      number: Number(number),
      class: interfaceClass,
      ...(tty === undefined ? {} : { tty }),
    })),
  };
}
const four = { 0: 'ttyUSB4', 1: 'ttyUSB5', 2: 'ttyUSB6', 3: 'ttyUSB7', 4: undefined };

t.test('a known product has its AT ports, best first, whatever their numbers', async (t) => {
  for (const [id, ...ports] of [
    ['2c7c:0125', '/dev/ttyUSB6', '/dev/ttyUSB7'],
    ['1e0e:9001', '/dev/ttyUSB6', '/dev/ttyUSB7'],
    ['12d1:1001', '/dev/ttyUSB6', '/dev/ttyUSB7', '/dev/ttyUSB4', '/dev/ttyUSB5'],
  ] as const) {
    t.ok(isModem(device(id, four)), id);
    t.same(placeOf(device(id, four), '/dev').ports, ports, id);
  }
});

t.test('another product of a known vendor is a modem if it has serial ports: all are tried', async (t) => {
  t.ok(isModem(device('2c7c:6026', four)));
  t.same(placeOf(device('2c7c:6026', four), '/dev').ports, [
    '/dev/ttyUSB4',
    '/dev/ttyUSB5',
    '/dev/ttyUSB6',
    '/dev/ttyUSB7',
  ]);
  t.notOk(isModem(device('12d1:107e', { 0: undefined }, '06')), 'a telephone of the same vendor');
  t.notOk(isModem(device('0403:6001', { 0: 'ttyUSB0' })), 'a serial adapter is asked nothing');
});

t.test('a stick that shows its driver disk is a future modem', async (t) => {
  const stick = device('12d1:1f01', { 0: undefined }, '08');
  t.ok(isModem(stick));
  t.same(placeOf(stick, '/dev'), { ports: [], reason: 'mass_storage', usb: { path: '1-1.2', id: stick.id } });
  t.ok(isModem(device('12d1:ffff', { 0: undefined }, '08')), 'also under ids that no table has');
  t.notOk(isModem(device('0951:1666', { 0: undefined }, '08')), 'a disk');
});

t.test('a modem whose driver is not there has no port', async (t) => {
  t.match(placeOf(device('2c7c:0125', { 0: undefined, 2: undefined }), '/dev'), {
    ports: [],
    reason: 'no_port',
  });
});

t.test('an unknown make may be a modem if it has two serial ports; one is an adapter or a GPS', async (t) => {
  for (const id of ['19d2:0117', '1bc7:1201', '1199:9071', '1546:1143', '2cb7:0104']) {
    t.ok(mayBeModem(device(id, four), false), id);
  }
  t.ok(mayBeModem(device('1bc7:0036', { 0: 'ttyACM0', 1: undefined, 2: 'ttyACM1' }, '02'), false));
  t.notOk(mayBeModem(device('0403:6001', { 0: 'ttyUSB0' }), false));
  t.ok(
    mayBeModem(device('0403:6001', { 0: 'ttyUSB0' }), true),
    'a modem that is named by IMEI may be anywhere',
  );
  t.notOk(mayBeModem(device('0951:1666', { 0: undefined }, '08'), true));
});
