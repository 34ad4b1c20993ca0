// Modems that report the card or the IMEI of another one: no PIN, no service and no texts of it go to them.
import t, { type Test } from 'tap';
import { simSettings } from '#node-daemon/config/node-config.ts';
import type { Rack, RackParts } from '#node-daemon/modem/rack.ts';
import { fastClock } from '../../fixtures/clocks/fast-clock.ts';
import { lines } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { ICCIDS, IMEIS, namesOf, setUpRack, TravellingModem } from './travelling-modem.ts';

/** A text from another network, by CMT: 3GPP TS 23.040 §9.2.2.1. */
const FORGED = [
  '+CMT: ,23',
  '07911326040000F0040B911346610089F60000208062917314080CC8F71D14969741F977FD07',
] as const;

const duplicates = (rack: Rack) =>
  rack.slots().filter(({ reason, iccid }) => reason === 'duplicate_iccid' && iccid === null);

/** A rack with an honest modem in service, whose card has a PIN, and another modem that reports the same ICCID. */
async function withLiar(t: Test) {
  const sims = simSettings({ [ICCIDS[0]]: { pin: '1234' } });
  const createModem: RackParts['createModem'] = (options) => setting.host.create({ ...options, sims });
  const setting = await setUpRack(t, [], { createModem }, fastClock(100));
  const { bus, modems, rack, served } = setting;
  const [honest, liar] = modems;
  liar.device.iccid = ICCIDS[0];
  bus.plug('1-1.1', honest);
  await served('1-1.1 0');
  liar.cpin = '+CPIN: SIM PIN';
  bus.plug('1-1.2', liar);
  await until('the refusal of the locked card', () => duplicates(rack).length === 1);
  await until('the alarm', () => rack.alarms().join() === 'duplicate_iccid');
  const asked = () => liar.device.port.count(/^AT\+CPIN\?$/);
  const isAskedAgain = async () => {
    const before = asked();
    await until('another question for the card of the liar', () => asked() > before + 2);
  };
  const gotPin = () => liar.device.port.count(/^AT\+CPIN=/) > 0;
  return { ...setting, gotPin, honest, isAskedAgain, liar };
}

t.test('a second modem with the ICCID of a served card gets no PIN, no service and no texts', async (t) => {
  const { gotPin, host, isAskedAgain, liar, rack } = await withLiar(t);
  t.notOk(gotPin());
  liar.cpin = '+CPIN: READY';
  liar.device.port.say(lines('+CPIN: READY'));
  liar.device.port.say(lines(...FORGED));
  await isAskedAgain();
  const states = ['1-1.1 registered null', '1-1.2 sim_absent duplicate_iccid'];
  await until('one of them in service', () => namesOf(rack).join() === states.join());
  t.equal(rack.find(ICCIDS[0])?.name, '1-1.1');
  t.equal(host.journal.state.facts.size, 0, 'the forged text is no fact');
  t.equal(liar.device.port.count(/^AT\+CNMI=/), 0, 'nothing was set up');
});

t.test(
  'a liar that was refused gets the card neither in a fault of its modem nor at once after it',
  async (t) => {
    const { bus, gotPin, honest, isAskedAgain, rack, served } = await withLiar(t);
    for (const state of ['+CPIN: NOT READY', '+CPIN: NOT INSERTED']) {
      honest.cpin = state;
      honest.device.port.say(lines(state));
      await until('the fault', () => !namesOf(rack)[0]?.startsWith('1-1.1 registered'));
      await isAskedAgain();
      honest.cpin = '+CPIN: READY';
      honest.device.port.say(lines('+CPIN: READY'));
      await served('1-1.1 0');
      t.notOk(gotPin(), state);
    }
    bus.unplug('1-1.1', honest);
    await isAskedAgain();
    t.notOk(gotPin(), 'unplugged');
    bus.plug('1-1.1', honest);
    await served('1-1.1 0');
    await until('the alarm', () => rack.alarms().join() === 'duplicate_iccid');
    bus.unplug('1-1.1', honest);
    await until('the card is given up after ten minutes', gotPin);
  },
);

t.test('a liar that alternates between the cards of others raises the alarm', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t, [], {}, fastClock(20));
  const [one, two, liar] = modems;
  bus.plug('1-1.1', one);
  bus.plug('1-1.2', two);
  await served('1-1.1 0', '1-1.2 1');
  let asked = 0;
  Object.defineProperty(liar.device, 'iccid', { get: () => ICCIDS[asked++ % 2] });
  bus.plug('1-1.3', liar);
  await until('the alarm', () => rack.alarms().includes('duplicate_iccid'));
  await served('1-1.1 0', '1-1.2 1');
});

t.test('a card that moves while its old modem notices nothing is served in its new one', async (t) => {
  const { bus, modems, rack, served } = await setUpRack(t, [], {}, fastClock(10));
  bus.plug('1-1.1', modems[0]);
  await served('1-1.1 0');
  modems[0].device.iccid = ICCIDS[2];
  modems[1].device.iccid = ICCIDS[0];
  bus.plug('1-1.2', modems[1]);
  await served('1-1.1 0', '1-1.2 1');
  t.equal(rack.find(ICCIDS[0])?.name, '1-1.2');
  t.same(rack.alarms(), []);
});

t.test(
  'a modem with the IMEI of another is served as one without: it takes no texts from its storage',
  async (t) => {
    const { bus, host, modems, rack, served } = await setUpRack(t);
    const [honest] = modems;
    const cardOf = (imei: string) => host.journal.state.cards.get(imei);
    const liar = new TravellingModem(0);
    liar.device.iccid = ICCIDS[1];
    bus.plug('1-1.1', honest);
    await served('1-1.1 0');
    await until('the card of the honest modem is noted', () => cardOf(IMEIS[0]) === ICCIDS[0]);
    bus.plug('1-1.2', liar);
    await served('1-1.1 0', '1-1.2 0');
    t.same(rack.alarms(), ['duplicate_imei']);
    bus.unplug('1-1.1', honest);
    honest.device.deliver(FORGED[1], { storage: 'ME', index: 3, announce: false });
    bus.plug('1-1.1', honest);
    const fact = await until('the text', () => [...host.journal.state.facts.values()][0]);
    t.match(fact, { kind: 'sms_received', iccid: ICCIDS[0] });
    t.equal(cardOf(IMEIS[0]), ICCIDS[0]);
  },
);
