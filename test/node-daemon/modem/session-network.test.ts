// The network of a slot in service: by URC at once, by poll where URCs are lost, and why there is none.
import t from 'tap';
import { POLL_MS } from '#node-daemon/modem/pauses.ts';
import { NO_SERVICE_MAX_MS } from '#node-daemon/modem/sim-service.ts';
import { lines, type ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { runTasks, SessionRig } from './session-rig.ts';

const registration = (port: ScriptedPort, cs: string, lte = cs, ps = cs): void => {
  port.on(/^AT\+CREG\?$/, lines(`+CREG: 2,${cs}`, 'OK'));
  port.on(/^AT\+CEREG\?$/, lines(`+CEREG: 2,${lte}`, 'OK'));
  port.on(/^AT\+CGREG\?$/, lines(`+CGREG: 2,${ps}`, 'OK'));
};

t.test('URCs change the slot at once', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  const said: [string[], object][] = [
    [['+CREG: 2', '+CGREG: 2', '+CEREG: 2'], { state: 'searching', reason: 'searching', operator: null }],
    [['+CREG: 5,"00A1","0001",7'], { state: 'registered', reason: 'roaming' }],
    [['+CREG: 3', '+CGREG: 3', '+CEREG: 3,,,,0,11'], { state: 'denied', reason: 'denied_plmn' }],
    [['+CREG: 3', '+CGREG: 0', '+CEREG: 1,"00A1","0001",7'], { state: 'registered', reason: null }],
  ];
  for (const [urcs, expected] of said) {
    rig.port.say(lines(...urcs));
    t.match(rig.slot, expected, urcs.join(' '));
  }
});

t.test('a change without a URC is found by the poll', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  registration(rig.port, '5,"00A1","0001",7');
  rig.port.on(/^AT\+CSQ$/, lines('+CSQ: 3,99', 'OK'));
  await rig.pass(POLL_MS);
  t.match(rig.slot, { state: 'registered', reason: 'roaming', signal_dbm: -107 });
});

t.test('the operator is asked again when the place changes, once for a burst', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  const before = rig.port.count(/^AT\+COPS\?$/);
  rig.port.on(/^AT\+COPS\?$/, lines('+COPS: 0,2,"00102",7', 'OK'));
  rig.port.say(lines('+CREG: 1,"00B2","0001",7', '+CGREG: 1,"00B2","0001",7', '+CEREG: 1,"00B2","0001",7'));
  await rig.pass(2_000);
  t.equal(rig.slot.operator, '00102');
  t.equal(rig.port.count(/^AT\+COPS\?$/), before + 1);
  await rig.pass(5 * 60_000);
  t.equal(rig.port.count(/^AT\+COPS\?$/), before + 1, 'and not at every poll');
});

t.test('the reason of a refusal is queried once if the registration does not say it', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  registration(rig.port, '3');
  rig.port.on(/^AT\+CEER$/, lines('+CEER: Illegal MS', 'OK'));
  await rig.pass(3 * POLL_MS);
  t.match(rig.slot, { state: 'denied', reason: 'denied_illegal_sim' });
  t.equal(rig.port.count(/^AT\+CEER$/), 1);
});

t.test('the signal comes by URC of each make, and small changes are not reported', async (t) => {
  const quectel = (port: ScriptedPort): unknown =>
    port.on(/^ATI$/, lines('Quectel', 'EC25', 'Revision: 1', 'OK'));
  const { rig } = await SessionRig.startInService(t, quectel);
  t.equal(rig.slot.signal_dbm, -71);
  const before = rig.reports.length;
  rig.port.say(lines('+QIND: "csq",20,99', '+QIND: "csq",22,99'));
  t.equal(rig.reports.length, before);
  rig.port.say(lines('+QIND: "csq",10,99'));
  t.equal(rig.slot.signal_dbm, -93);
  rig.port.say(lines('+QIND: "csq",99,99'));
  t.equal(rig.slot.signal_dbm, null);
});

t.test('on LTE alone the signal is that of +CESQ', async (t) => {
  const { rig } = await SessionRig.startInService(t, (port) => {
    port.on(/^AT\+CSQ$/, lines('+CSQ: 99,99', 'OK'));
    port.on(/^AT\+CESQ$/, lines('+CESQ: 99,99,255,255,20,47', 'OK'));
  });
  t.equal(rig.slot.signal_dbm, -94);
});

t.test('a domain that the modem does not know is asked three times', async (t) => {
  const { rig } = await SessionRig.startInService(t, (port) =>
    port.on(/^AT\+CEREG/, lines('COMMAND NOT SUPPORT')),
  );
  await rig.pass(6 * POLL_MS);
  t.equal(rig.port.count(/^AT\+CEREG\?$/), 3);
  t.ok(rig.port.count(/^AT\+CREG\?$/) >= 6);
});

t.test('a domain that is refused now and then is not forgotten', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  let asked = 0;
  rig.port.on(/^AT\+C(G|E)?REG\?$/, ([, kind = '']) =>
    asked++ % 4 < 3 ? lines('+CME ERROR: 14') : lines(`+C${kind}REG: 2,1`, 'OK'),
  );
  rig.reports.length = 0;
  await rig.pass(6 * POLL_MS);
  t.notOk(rig.reports.some(({ state }) => state !== undefined && state !== 'registered'));
});

t.test('a URC that comes while the domains are asked counts', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  registration(rig.port, '2');
  rig.port.on(/^AT\+CREG\?$/, lines('+CREG: 2,1', 'OK'));
  rig.port.on(/^AT\+CGREG\?$/, lines('+CREG: 2', '+CGREG: 2,2', 'OK'));
  await rig.pass(POLL_MS);
  t.equal(rig.slot.state, 'searching');
});

t.test('a SIM that no network serves for too long ends the session', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  registration(rig.port, '2');
  const lostAt = rig.clock.now();
  rig.startTime();
  t.match(await ended, { trouble: 'no_service' });
  t.ok(rig.clock.now() - lostAt <= NO_SERVICE_MAX_MS + 2 * POLL_MS);
});

t.test('a session goes on with a network now and then, or if no restart would help', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  for (let times = 0; times < 6; times += 1) {
    rig.port.say(lines('+CREG: 2', '+CGREG: 2', '+CEREG: 2'));
    await rig.pass(POLL_MS);
  }
  t.notOk(rig.port.closed);
  registration(rig.port, '3,,,,0,3', '3', '3');
  await rig.pass(10 * NO_SERVICE_MAX_MS);
  t.match(rig.slot, { state: 'denied', reason: 'denied_illegal_sim' });
  t.notOk(rig.port.closed);
  await runTasks();
});

t.test('messages are read while there is no network', async (t) => {
  const rig = await SessionRig.create(t);
  void rig.run((port) => registration(port, '2'));
  rig.device.deliver('07915155000000F0040B915155000010F200005211211100000002C834', { announce: false });
  rig.startTime();
  await until('the message', () => rig.journal.state.facts.size === 1);
  t.equal(rig.slot.state, 'searching');
});
