// A slot's life over scripted ports: set up, lost, back, another SIM, and none of it noticed elsewhere.
import t, { type Test } from 'tap';
import { type Logger, silentLogger } from '#shared/log.ts';
import { lines, ScriptedModem, type ScriptedPort, TEST_ICCID } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { reaches, ScriptedHost } from './scripted-host.ts';

const PATH = '/dev/m0';

async function setUp(t: Test, prepare: (port: ScriptedPort) => void = () => undefined) {
  const host = await ScriptedHost.start(t);
  const device = new ScriptedModem();
  const states: string[] = [];
  const setPresent = (isPresent: boolean): void => {
    if (!isPresent) host.unplug(PATH);
    else
      host.plug(PATH, () => {
        const port = device.plug();
        prepare(port);
        return port;
      });
  };
  setPresent(true);
  const modem = host.create({ slot: 'm0', place: { ports: [PATH] } });
  host.onChange = () => {
    if (states.at(-1) !== modem.slot.state) states.push(modem.slot.state);
  };
  const state = (wanted: string) => reaches(modem, wanted);
  return { device, host, journal: host.journal, modem, state, states, setPresent };
}

t.test('a modem is set up and reported with all that is known of it', async (t) => {
  const { device, modem, state } = await setUp(t);
  modem.start();
  await state('registered');
  await until('the operator', () => modem.slot.operator !== null);
  t.match(modem.slot, {
    slot: 'm0',
    state: 'registered',
    device_id: '350000000000017',
    iccid: TEST_ICCID,
    number: '+12065550017',
    operator: '00101',
    signal_dbm: -71,
    usb_path: null,
    reason: null,
  });
  t.same(device.port.received.slice(0, 2), ['<ESC>', 'AT'], 'an old prompt is left first');
});

t.test('messages on the SIM are read at the start', async (t) => {
  const { device, journal, modem } = await setUp(t);
  device.deliver('07915155000000F0040B915155000010F200005211211100000002C834', { announce: false });
  modem.start();
  await until('the message', () => journal.state.facts.size === 1);
  t.match(journal.state.facts.get(1), { body: 'Hi' });
});

t.test('a modem that hangs up is opened again, quickly', async (t) => {
  const { device, modem, state, states } = await setUp(t);
  modem.start();
  await state('registered');
  const lostAt = Date.now();
  device.port.hangUp();
  await state('lost');
  t.equal(modem.slot.iccid, TEST_ICCID, 'the last SIM that was there');
  await state('registered');
  t.ok(Date.now() - lostAt < 1_000);
  t.same(states.slice(-4), ['lost', 'starting', 'searching', 'registered']);
});

t.test('a device that is not there is waited for', async (t) => {
  const { modem, setPresent, state } = await setUp(t);
  setPresent(false);
  modem.start();
  await state('lost');
  t.equal(modem.slot.reason, 'absent');
  t.notOk(modem.isPlugged);
  setPresent(true);
  await state('registered');
});

t.test('a modem that restarts by itself is set up again', async (t) => {
  const { device, modem, state } = await setUp(t);
  modem.start();
  await state('registered');
  const before = device.port;
  before.say(lines('^BOOT', 'RDY', '+CFUN: 1'));
  await until('another session', () => device.port !== before && device.port.count(/CNMI=/) > 0);
  await state('registered');
});

t.test('no SIM, a locked SIM, and a SIM that is inserted', async (t) => {
  let answer = lines('+CME ERROR: 10');
  const { device, modem, state } = await setUp(t, (port) => port.on(/^AT\+CPIN\?$/, () => answer));
  modem.start();
  await state('sim_absent');
  t.equal(modem.slot.iccid, null);
  t.equal(modem.outbox, undefined);
  answer = lines('+CPIN: SIM PIN', 'OK');
  device.port.say(lines('+CPIN: SIM PIN'));
  await state('sim_locked');
  t.equal(modem.slot.iccid, TEST_ICCID);
  answer = lines('+CPIN: READY', 'OK');
  device.port.say(lines('+CPIN: READY'));
  await state('registered');
});

t.test('registration comes and goes by URC', async (t) => {
  const { device, modem, state } = await setUp(t);
  modem.start();
  await state('registered');
  device.port.say(lines('+CREG: 2', '+CGREG: 2', '+CEREG: 2'));
  await state('searching');
  device.port.say(lines('+CREG: 3', '+CGREG: 3', '+CEREG: 3'));
  await state('denied');
  device.port.say(lines('+CEREG: 1,"00A1","0001",7'));
  await state('registered');
});

t.test('the log says why a slot is not in service, also when only that changes', async (t) => {
  const reported: unknown[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (fields, message) => {
      if (message === 'slot state') reported.push(fields);
    },
  };
  const host = await ScriptedHost.start(t);
  host.plug(PATH, () => new ScriptedModem().port.on(/^AT\+CPIN\?$/, lines('+CPIN: SIM PUK', 'OK')));
  const modem = host.create({ slot: 'm0', place: { ports: [PATH] }, log });
  modem.start();
  await reaches(modem, 'sim_locked');
  t.same(reported.at(-1), { slot: 'm0', state: 'sim_locked', reason: 'sim_puk' });
  const taken = host.create({ slot: 'm1', place: { ports: ['/dev/m1'] }, log });
  host.plug('/dev/m1', () => {
    throw Object.assign(new Error('busy'), { code: 'EBUSY' });
  });
  taken.start();
  await until('the refusal', () => taken.slot.reason === 'denied');
  t.same(reported.at(-1), { slot: 'm1', state: 'lost', reason: 'denied' });
  taken.move(undefined);
  t.same(reported.at(-1), { slot: 'm1', state: 'lost', reason: 'absent' });
});

t.test('SMS commands that fail while the SIM is busy are tried again', async (t) => {
  let asked = 0;
  const storages = lines('+CPMS: ("SM","ME"),("SM","ME"),("SM","ME")', 'OK');
  const { modem, state } = await setUp(t, (port) =>
    port.on(/^AT\+CPMS=\?$/, () => {
      asked += 1;
      return asked < 2 ? lines('+CMS ERROR: 314') : storages;
    }),
  );
  modem.start();
  await state('registered');
  t.equal(asked, 2);
});

t.test('older firmware gets the indications that it takes', async (t) => {
  const { device, modem, state } = await setUp(t, (port) =>
    port.on(/^AT\+CNMI=2,1,0,1,0$/, lines('+CMS ERROR: 303')),
  );
  modem.start();
  await state('registered');
  t.same(
    [...new Set(device.port.received.filter((text) => text.startsWith('AT+CNMI=')))],
    ['AT+CNMI=2,1,0,1,0', 'AT+CNMI=2,1,0,2,0'],
  );
});
