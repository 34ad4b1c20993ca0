// Slots and who is in them: named by modem, by place or by port, while devices come, go, move and swap.
import t from 'tap';
import { silentLogger } from '#shared/log.ts';
import { lines, ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { ICCIDS, IMEIS, namesOf, setUpRack, TravellingModem } from './travelling-modem.ts';

t.test('without configuration a slot is named after its place', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t);
  t.same(rack.slots(), []);
  t.same(rack.alarms(), ['no_modem']);
  bus.plug('1-1.2', modems[0]);
  bus.plug('1-1.3', modems[1]);
  await served('1-1.2 0', '1-1.3 1');
  t.same(rack.alarms(), []);
  t.match(rack.slots()[0], { usb_path: '1-1.2', device_id: IMEIS[0], iccid: ICCIDS[0], reason: null });
  bus.unplug('1-1.2', modems[0]);
  await until('the loss', () => namesOf(rack).includes('1-1.2 lost absent'));
  bus.plug('1-1.2', modems[0]);
  await served('1-1.2 0', '1-1.3 1');
});

t.test('a slot that names a modem goes with it, wherever it is plugged in', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t, [{ name: 'top', imei: IMEIS[0] }]);
  t.same(namesOf(rack), ['top lost absent'], 'it is known before it comes');
  bus.plug('1-1.2', modems[0]);
  bus.plug('1-1.3', modems[1]);
  await served('top 0', '1-1.3 1');
  bus.unplug('1-1.2', modems[0]);
  await served('1-1.3 1');
  t.ok(namesOf(rack).includes('top lost absent'));
  bus.plug('2-4', modems[0]);
  await served('top 0', '1-1.3 1');
  t.equal(rack.slots().length, 2, 'the place that it left is no slot any more');
  t.equal(rack.slots().find(({ slot }) => slot === 'top')?.usb_path, '2-4');
});

t.test('a slot that names a place has the modem that is there', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t, [{ name: 'left', usbPath: '1-1.2' }]);
  const pathsOf = () => rack.slots().map(({ slot, usb_path: path }) => `${slot} ${path}`);
  t.same(pathsOf(), ['left 1-1.2'], 'its place is known before its modem');
  bus.plug('1-1.2', modems[0]);
  await served('left 0');
  bus.unplug('1-1.2', modems[0]);
  await served();
  bus.plug('1-1.2', modems[1]);
  await served('left 1');
  bus.plug('1-1.3', modems[0]);
  await served('left 1', '1-1.3 0');
  t.equal(rack.slots().length, 2);
});

t.test('the name of the modem goes before the name of the place', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t, [
    { name: 'left', usbPath: '1-1.2' },
    { name: 'mine', imei: `${IMEIS[0].slice(0, 14)}9` },
  ]);
  bus.plug('1-1.2', modems[0]);
  await served('mine 0');
  t.ok(namesOf(rack).includes('left lost absent'), 'the place has no other modem');
  t.match(rack.slots(), [
    { slot: 'left', usb_path: null },
    { slot: 'mine', usb_path: '1-1.2' },
  ]);
});

t.test('two modems that change places keep the names that name them', async (t) => {
  const { bus, modems, served } = await setUpRack(t, [
    { name: 'one', imei: IMEIS[0] },
    { name: 'two', imei: IMEIS[1] },
  ]);
  bus.plug('1-1', modems[0]);
  bus.plug('1-2', modems[1]);
  await served('one 0', 'two 1');
  bus.unplug('1-1', modems[0]);
  bus.unplug('1-2', modems[1]);
  await served();
  bus.plug('1-1', modems[1]);
  bus.plug('1-2', modems[0]);
  await served('one 0', 'two 1');
});

t.test('two devices that say the same IMEI are two slots', async (t) => {
  const { bus, rack } = await setUpRack(t, [{ name: 'one', imei: IMEIS[0] }]);
  const other = new TravellingModem(0);
  other.device.iccid = ICCIDS[1];
  bus.plug('1-1', new TravellingModem(0));
  bus.plug('1-2', other);
  const isServed = () => rack.slots().filter(({ state }) => state === 'registered').length === 2;
  await until('both', isServed);
  t.same(rack.alarms(), ['duplicate_imei']);
  t.equal(new Set(rack.slots().map(({ slot }) => slot)).size, 2);
  t.equal(rack.slots().filter(({ slot }) => slot === 'one').length, 1);
});

t.test('port numbers are shuffled a hundred times: every slot keeps its modem', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t, [
    { name: 'one', imei: IMEIS[0] },
    { name: 'two', usbPath: '1-2' },
  ]);
  const paths = ['1-1', '1-2', '1-3'];
  for (let round = 0; round < 100; round += 1) {
    const order = [0, 1, 2].map((index) => (index + round) % 3);
    for (const index of order) bus.plug(paths[index] ?? '', modems[index] ?? modems[0]);
    await served('one 0', 'two 1', '1-3 2');
    for (const index of order) bus.unplug(paths[index] ?? '', modems[index]);
    await until('all lost', () => rack.slots().every(({ state }) => state === 'lost'));
  }
});

t.test('a SIM goes with its card: found in the slot where it is', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t);
  bus.plug('1-1', modems[0]);
  bus.plug('1-2', modems[1]);
  await served('1-1 0', '1-2 1');
  t.equal(rack.find(ICCIDS[0])?.name, '1-1');
  modems[0].device.iccid = ICCIDS[1];
  modems[1].device.iccid = ICCIDS[0];
  for (const modem of modems.slice(0, 2)) modem.device.port.say(lines('+CPIN: READY'));
  await until('the swap', () => rack.find(ICCIDS[0])?.name === '1-2' && rack.find(ICCIDS[1])?.name === '1-1');
  t.equal(rack.find(ICCIDS[2]), undefined);
});

t.test('a SIM that was taken from a lost modem is only in its new slot', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t);
  bus.plug('1-1', modems[0]);
  await served('1-1 0');
  bus.unplug('1-1', modems[0]);
  await until('the loss', () => rack.slots()[0]?.state === 'lost');
  t.equal(rack.find(ICCIDS[0])?.name, '1-1', 'the last that held it');
  modems[1].device.iccid = ICCIDS[0];
  bus.plug('1-2', modems[1]);
  await served('1-2 1');
  t.equal(rack.find(ICCIDS[0])?.name, '1-2');
  t.same(
    rack.slots().map(({ slot, iccid }) => [slot, iccid]),
    [
      ['1-1', null],
      ['1-2', ICCIDS[0]],
    ],
  );
});

t.test(
  'with discovery off only what is named is used; others are asked who they are, and let go',
  async (t) => {
    const { bus, host, modems, rack, served } = await setUpRack(
      t,
      [
        { name: 'one', imei: IMEIS[0] },
        { name: 'two', usbPath: '1-2' },
      ],
      { discover: false },
    );
    bus.plug('1-3', modems[2]);
    bus.plug('1-1', modems[0]);
    bus.plug('1-2', modems[1]);
    await served('one 0', 'two 1');
    await until('the refusal', () => modems[2].device.port.closed);
    t.same(
      modems[2].device.port.received.filter((text) => /CMG|CPMS|CNMI|CPIN/.test(text)),
      [],
    );
    t.same(
      rack
        .slots()
        .map(({ slot }) => slot)
        .sort(),
      ['one', 'two'],
    );
    t.equal(rack.find(ICCIDS[2]), undefined);
    const before = host.opened.length;
    bus.unplug('1-1', modems[0]);
    await served('two 1');
    bus.plug('1-1', modems[0]);
    await served('one 0', 'two 1');
    t.equal(host.opened.length, before + 1, 'a refused port is not opened again');
  },
);

t.test('with discovery off and no modem named, unknown ones are not even opened', async (t) => {
  const { bus, host, modems, rack, served } = await setUpRack(t, [{ name: 'two', usbPath: '1-2' }], {
    discover: false,
  });
  bus.plug('1-3', modems[2]);
  bus.plug('1-2', modems[1]);
  await served('two 1');
  t.equal(host.opened.length, 1);
  t.ok(rack.wantsUsb);
});

t.test('ignored devices are left alone, by place or by ids', async (t) => {
  const ignore = [{ usbPath: '1-1' }, { usbId: { vendor: '12d1', product: '1506' } }];
  const { bus, host, modems, served } = await setUpRack(t, [], { ignore });
  bus.plug('1-1', modems[0]);
  bus.plug('1-2', modems[1], { vendor: '12d1', product: '1506' });
  bus.plug('1-3', modems[2]);
  await served('1-3 2');
  t.equal(host.opened.length, 1);
});

t.test('the first port that answers with an IMEI is used, all others are closed', async (t) => {
  const { bus, host, modems, served } = await setUpRack(t);
  const dead = [
    new ScriptedPort().on(/(?:)/, () => undefined),
    new ScriptedPort().on(/^AT\+CGSN$/, lines('ERROR')),
  ];
  dead[1]?.on(/^AT$/, lines('OK'));
  for (const [index, port] of dead.entries()) host.plug(`/dev/ttyUSB${index}`, () => port);
  host.plug('/dev/ttyUSB2', () => modems[0].open());
  const interfaces = [0, 1, 2, 3].map((number) => ({ number, class: 'ff', tty: `ttyUSB${number}` }));
  bus.add({ usbPath: '1-1', id: { vendor: '2c7c', product: '9999' }, interfaces });
  await served('1-1 0');
  t.same(host.opened, ['/dev/ttyUSB0', '/dev/ttyUSB1', '/dev/ttyUSB2']);
  t.ok(dead.every(({ closed }) => closed));
});

t.test('a stick that comes as a disk is a slot that says so, and is used when it turns', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t);
  const storage = { usbPath: '1-1', id: { vendor: '12d1', product: '1f01' } };
  bus.add({ ...storage, interfaces: [{ number: 0, class: '08' }] });
  t.same(namesOf(rack), ['1-1 lost mass_storage']);
  t.same(rack.alarms(), [], 'there is a modem, if not one that can be used');
  bus.plug('1-1', modems[0], { vendor: '12d1', product: '1506' });
  await served('1-1 0');
});

t.test('a port that was named is a slot like the others', async (t) => {
  const { bus, host, modems, rack, served } = await setUpRack(t, [{ name: 'bench', port: '/dev/ttyS0' }]);
  t.equal(rack.slots()[0]?.usb_path, null);
  host.plug('/dev/ttyS0', () => modems[1].open());
  bus.plug('1-1', modems[0]);
  await served('bench 1', '1-1 0');
  t.equal(rack.find(ICCIDS[1])?.name, 'bench');
});

t.test('a USB event while a modem stops makes no second modem at its port', async (t) => {
  let sent = (): void => undefined;
  const sending = new Promise<void>((resolve) => {
    sent = resolve;
  });
  let created = 0;
  const { bus, host, modems, rack, served } = await setUpRack(t, [], {
    createModem: (options) => {
      created += 1;
      const modem = host.create(options);
      const stop = modem.stop.bind(modem);
      // As a modem that still sends a message.
      if (created === 1) modem.stop = () => sending.then(stop);
      return modem;
    },
  });
  bus.plug('1-1', modems[0]);
  await served('1-1 0');
  const next = { discover: false, slots: [{ name: 'other', imei: IMEIS[1] }], ignore: [] };
  const reconfigured = rack.reconfigure(next);
  bus.add({ usbPath: '1-9', id: { vendor: 'ffff', product: '0001' }, interfaces: [] });
  t.equal(created, 1);
  sent();
  await reconfigured;
  t.equal(created, 2, 'afterwards the device is asked who it is');
});

t.test('a configuration that exchanges two names gives each modem its own at once', async (t) => {
  const warnings: unknown[] = [];
  const slots = (one: string, two: string) => [
    { name: one, imei: IMEIS[0] },
    { name: two, imei: IMEIS[1] },
  ];
  const { bus, modems, rack, served } = await setUpRack(t, slots('one', 'two'), {
    log: { ...silentLogger, warn: (...what: unknown[]) => warnings.push(what) },
  });
  bus.plug('1-1', modems[0]);
  bus.plug('1-2', modems[1]);
  await served('one 0', 'two 1');
  await rack.reconfigure({ discover: true, slots: slots('two', 'one'), ignore: [] });
  await served('two 0', 'one 1');
  t.same(warnings, []);
});
