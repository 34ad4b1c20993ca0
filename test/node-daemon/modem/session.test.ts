// A session's life: what it survives, what ends it and with which trouble, and how much it asks.
import t from 'tap';
import { atCommand } from '#node-daemon/at/command.ts';
import { simSettings } from '#node-daemon/config/node-config.ts';
import { POLL_MS } from '#node-daemon/modem/pauses.ts';
import { SIM_GONE_MAX_MS, SIM_LOSS_ENDS_MAX } from '#node-daemon/modem/sim/sim-loss.ts';
import { SIM_BUSY_MAX_MS } from '#node-daemon/modem/sim/sim-wait.ts';
import { PARAMS } from '../../fixtures/nodes/scripted-outbox.ts';
import { lines, type ScriptedPort, TEST_ICCID } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { runTasks, SessionRig } from './session-rig.ts';

t.test('the end of a session names its cause', async (t) => {
  const ends: [string, (rig: SessionRig) => void, string][] = [
    ['the port is gone', ({ port }) => port.hangUp(), 'port_gone'],
    ['the modem is dead', ({ port }) => port.on(/^/, () => undefined), 'silent'],
    ['a restart that is announced', ({ port }) => port.say(lines('RDY')), 'restarted'],
    [
      'a restart without a word',
      ({ port }) => port.on(/^AT\+CNMI\?$/, lines('+CNMI: 0,0,0,0,0', 'OK')),
      'restarted',
    ],
    ['text mode again', ({ port }) => port.on(/^AT\+CMGF\?$/, lines('+CMGF: 1', 'OK')), 'restarted'],
    ['no SIM any more', ({ port }) => port.on(/^AT\+CPIN\?$/, lines('+CME ERROR: 10')), 'sim_changed'],
    [
      'another SIM without a word',
      ({ device }) => {
        device.iccid = '8901000000000000025';
      },
      'sim_changed',
    ],
  ];
  for (const [what, happen, trouble] of ends) {
    const { rig, ended } = await SessionRig.startInService(t);
    happen(rig);
    rig.startTime();
    t.match(await ended, { name: 'SessionEndedError', trouble }, what);
    rig.stopTime();
  }
});

t.test(
  'a slot reports how full the storage of arriving messages is, also while another one is swept',
  async (t) => {
    const sweep = (used: number) => lines(`+CPMS: 7,9,0,9,${used},23`, 'OK');
    const { rig } = await SessionRig.startInService(t, (port) => port.on(/^AT\+CPMS="\w+"$/, sweep(5)));
    t.same(rig.slot.storage, { used: 5, total: 23 });
    rig.port.on(/^AT\+CPMS="\w+"$/, sweep(0));
    await rig.pass(POLL_MS);
    t.same(rig.slot.storage, { used: 0, total: 23 });
  },
);

t.test('settings that an operator’s command changed are restored before the next send', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  const { port } = rig;
  const sent = { ...PARAMS, iccid: TEST_ICCID };
  const before = port.received.length;
  port
    .on(/^ATZ$/, lines('OK'))
    .on(/^AT\+CMGS=/, '\r\n> ')
    .on(/^[0-9A-F]{20,}$/, lines('+CMGS: 7', 'OK'));
  rig.startTime();
  const changed = rig.session?.changing(() => rig.channel?.send(atCommand('ATZ')) ?? Promise.reject());
  const sending = rig.session?.outbox?.send({
    commandId: 'c1',
    params: sent,
    // The clock runs while the disk is slow.
    deadlineAt: rig.clock.now() + 86_400_000,
  });
  await changed;
  t.match(await sending, { status: 'accepted' });
  rig.stopTime();
  const given = port.received.slice(before);
  const at = (pattern: RegExp): number => given.findIndex((line) => pattern.test(line));
  t.ok(at(/^ATZ$/) >= 0 && at(/^ATZ$/) < at(/^AT\+CMGF=0$/));
  for (const line of [/^AT\+CMEE=1$/, /^AT\+CMGF=0$/, /^AT\+CNMI=2,/])
    t.ok(at(line) < at(/^AT\+CMGS/), String(line));
});

t.test('an operator’s command comes between two messages, and not while one is on its way', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  rig.port.on(/^AT\+CMGS=/, '\r\n> ').on(/^[0-9A-F]{20,}$/, () => undefined);
  const params = { ...PARAMS, iccid: TEST_ICCID };
  void rig.session?.outbox?.send({ commandId: 'c1', params, deadlineAt: rig.clock.now() + 600_000 });
  await until('the message', () => rig.port.count(/^[0-9A-F]{20,}$/) === 1);
  let isGiven = false;
  const changed = rig.session?.changing(async () => {
    isGiven = true;
  });
  rig.startTime();
  await t.rejects(changed ?? Promise.resolve(), {
    name: 'SendingError',
    message: /is still sending a message/,
  });
  rig.stopTime();
  t.notOk(isGiven);
});

t.test(
  'a SIM that is exchanged during an operator’s command sends no message of the former one',
  async (t) => {
    const { rig, ended } = await SessionRig.startInService(t);
    let finish: () => void = () => undefined;
    const given = new Promise<void>((resolve) => {
      finish = resolve;
    });
    void rig.session?.changing(() => given);
    const params = { ...PARAMS, iccid: TEST_ICCID };
    const sent = rig.session?.outbox?.send({
      commandId: 'c1',
      params,
      deadlineAt: rig.clock.now() + 600_000,
    });
    const refused = t.rejects(async () => void (await sent), { code: 'slot_unavailable' });
    await until('the message is recorded', () => rig.journal.state.commands.has('c1'));
    await rig.pass(5_000);
    rig.device.iccid = '8901000000000000025';
    finish();
    rig.startTime();
    t.match(await ended, { trouble: 'sim_changed' });
    rig.stopTime();
    await refused;
    t.equal(rig.port.count(/^AT\+CMGS=/), 0);
  },
);

t.test('a SIM removal is noticed at once if the modem announces it', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  rig.port.on(/^AT\+CPIN\?$/, lines('+CME ERROR: 10'));
  rig.port.say(lines('+CPIN: NOT INSERTED'));
  t.match(await ended, { trouble: 'sim_changed' }, 'no time has passed');
});

t.test('a modem that announces SIM changes with every answer is not polled all the time', async (t) => {
  for (const answer of [
    ['+CPIN: READY', '+CPIN: READY'],
    ['^SIMST: 1', '+CPIN: READY'],
  ]) {
    const { rig } = await SessionRig.startInService(t, (port) => {
      port.on(/^ATI$/, lines('Huawei', 'E3131', 'Revision: 1', 'OK'));
      port.on(/^AT\+CPIN\?$/, lines(...answer, 'OK'));
    });
    const before = rig.port.count(/^AT\+CPIN\?$/);
    await runTasks();
    t.ok(rig.port.count(/^AT\+CPIN\?$/) <= before + 1, 'while no time passes');
    await rig.pass(10 * 60_000);
    const looks = rig.port.count(/^AT\+CPIN\?$/) - before;
    t.ok(looks <= 26, `${looks} looks in 10 minutes`);
  }
});

t.test('an answer that is lost now and then ends no session, several in a row do', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  let asked = 0;
  rig.port.on(/^AT\+CSQ$/, () => (asked++ % 2 === 0 ? undefined : lines('+CSQ: 9,99', 'OK')));
  rig.startTime();
  await until('two answers', () => asked >= 4);
  t.match(rig.slot, { state: 'registered', signal_dbm: -95 });
  rig.port.on(/^AT\+CSQ$/, () => undefined);
  t.match(await ended, { trouble: 'silent' });
});

t.test('a line of the set-up that gets no answer costs its time only', async (t) => {
  const { rig } = await SessionRig.startInService(t, (port) => port.on(/^AT\+CSCS=/, () => undefined));
  t.equal(rig.slot.state, 'registered');
});

t.test('an error in place of a setting is no restart', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  rig.port.on(/^AT\+CNMI\?$/, lines('+CMS ERROR: 314'));
  await rig.pass(3 * POLL_MS);
  t.equal(rig.slot.state, 'registered');
  t.notOk(rig.port.closed);
});

t.test('a modem that always sends ^BOOT is not restarted', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  for (let times = 0; times < 10; times += 1) {
    rig.port.say(lines('^BOOT:35323129,0,0,0,26'));
    await rig.pass(POLL_MS);
  }
  t.equal(rig.slot.state, 'registered');
  t.notOk(rig.port.closed);
});

t.test('a SIM that is busy is waited for, but not for ever', async (t) => {
  const rig = await SessionRig.create(t);
  const ended = rig.run((port) => port.on(/^AT\+CPIN\?$/, lines('+CME ERROR: 14')));
  await rig.pass(SIM_BUSY_MAX_MS / 2);
  t.equal(rig.slot.state, 'starting');
  rig.startTime();
  t.match(await ended, { trouble: 'faulty' });
});

t.test('a SIM that is not there is waited for as long as it takes', async (t) => {
  const rig = await SessionRig.create(t);
  let answer = lines('+CME ERROR: 10');
  void rig.run((port) => port.on(/^AT\+CPIN\?$/, () => answer));
  await rig.pass(10 * SIM_BUSY_MAX_MS);
  t.match(rig.slot, { state: 'sim_absent', reason: 'sim_absent', iccid: null });
  answer = lines('+CPIN: READY', 'OK');
  await rig.inService();
  t.match(rig.slot, { state: 'registered', reason: null, iccid: TEST_ICCID });
});

t.test('a modem that was left without radio and SIM gets them back', async (t) => {
  let functionality = 0;
  const { rig } = await SessionRig.startInService(t, (port) => {
    port.on(/^AT\+CFUN\?$/, () => lines(`+CFUN: ${functionality}`, 'OK'));
    port.on(/^AT\+CPIN\?$/, () =>
      lines(...(functionality === 1 ? ['+CPIN: READY', 'OK'] : ['+CME ERROR: 10'])),
    );
    port.on(/^AT\+CFUN=1$/, () => {
      functionality = 1;
      return lines('OK');
    });
  });
  t.equal(rig.port.count(/^AT\+CFUN=1$/), 1);
});

t.test(
  'a modem without AT+CFUN is served, and one that has full functionality gets no command for it',
  async (t) => {
    const { rig } = await SessionRig.startInService(t, (port) => port.on(/^AT\+CFUN/, lines('ERROR')));
    t.equal(rig.slot.state, 'registered');
    t.equal((await SessionRig.startInService(t)).rig.port.count(/^AT\+CFUN=/), 0);
  },
);

t.test('a SIM that was there and is gone for a minute lets the recovery climb once', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  const isGone = (port: ScriptedPort): unknown => port.on(/^AT\+CPIN\?$/, lines('+CME ERROR: 10'));
  isGone(rig.port);
  rig.startTime();
  t.match(await ended, { trouble: 'sim_changed' });
  for (let times = 0; times < SIM_LOSS_ENDS_MAX; times += 1) {
    const from = rig.clock.now();
    t.match(await rig.run(isGone), { trouble: 'faulty' });
    if (times === 0) t.ok(rig.clock.now() - from >= SIM_GONE_MAX_MS);
  }
  rig.stopTime();
  void rig.run(isGone);
  await rig.pass(120 * 60_000);
  t.notOk(rig.port.closed);
  t.match(rig.slot, { state: 'sim_absent', reason: 'sim_absent' });
});

t.test('a SIM that fails from the start lets the recovery climb once, too', async (t) => {
  const rig = await SessionRig.create(t);
  const ended = rig.run((port) => port.on(/^AT\+CPIN\?$/, lines('+CME ERROR: 13')));
  rig.startTime();
  t.match(await ended, { trouble: 'faulty', message: /sim_failure/ });
});

t.test('while the SIM is busy no worse way of announcing is chosen', async (t) => {
  let refusals = 3;
  const { rig } = await SessionRig.startInService(t, (port) =>
    port.on(/^AT\+CNMI=2,1,0,1,0$/, () => (refusals-- > 0 ? lines('+CMS ERROR: 314') : lines('OK'))),
  );
  t.equal(rig.port.count(/^AT\+CNMI=2,1,0,1,0$/), 4);
  t.equal(rig.port.count(/^AT\+CNMI=2,1,0,2,0$/), 0);
});

t.test('a modem that cannot list its storages is known by its make', async (t) => {
  const { rig } = await SessionRig.startInService(t, (port) => {
    port.on(/^ATI$/, lines('Quectel', 'EC25', 'Revision: 1', 'OK'));
    port.on(/^AT\+CPMS=\?$/, lines('ERROR'));
  });
  t.ok(rig.port.received.includes('AT+CPMS="SM","SM","SM"'));
});

t.test('a modem that takes all three storages or none is read and emptied all the same', async (t) => {
  const { rig } = await SessionRig.startInService(t, (port) => port.on(/^AT\+CPMS="\w+"$/, lines('ERROR')));
  rig.device.deliver('07915155000000F0040B915155000010F200005211211100000002C834', { storage: 'SM' });
  rig.startTime();
  await until('an empty store', () => rig.device.stores['SM']?.size === 0);
  t.equal(rig.journal.state.facts.size, 1);
  t.ok(rig.port.received.includes('AT+CPMS="ME","ME","SM"'), 'and new ones go where they went');
});

t.test('a modem that knows text mode alone is faulty', async (t) => {
  const rig = await SessionRig.create(t);
  const ended = rig.run((port) => {
    port.on(/^AT\+CMGF=0$/, lines('ERROR'));
    port.on(/^AT\+CMGF\?$/, lines('+CMGF: 1', 'OK'));
  });
  rig.startTime();
  t.match(await ended, { trouble: 'faulty', message: /PDU mode/ });
});

t.test('a modem without room for messages is faulty', async (t) => {
  const rig = await SessionRig.create(t);
  const ended = rig.run((port) => port.on(/^AT\+CPMS="/, lines('+CPMS: 0,0,0,0,0,0', 'OK')));
  rig.startTime();
  t.match(await ended, { trouble: 'faulty', message: /storage/ });
});

t.test('a full storage is emptied at once', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  for (const urc of ['^SMMEMFULL:"SM"', '+SMS FULL', '+QIND: "smsfull","SM"', '+CIEV: "smsfull",1']) {
    const before = rig.port.count(/^AT\+CMGL=4$/);
    rig.port.say(lines(urc));
    await runTasks();
    t.equal(rig.port.count(/^AT\+CMGL=4$/), before + 2, `${urc}: both storages, and no time has passed`);
  }
});

t.test("the number is the configuration's, or else the SIM's", async (t) => {
  const mute = (port: ScriptedPort): unknown => port.on(/^AT\+CNUM$/, lines('OK'));
  const configured = simSettings({ [TEST_ICCID]: { number: '+12065550199' } });
  for (const [prepare, sims, number] of [
    [() => undefined, undefined, '+12065550017'],
    [mute, undefined, null],
    [mute, configured, '+12065550199'],
    [() => undefined, configured, '+12065550199'],
  ] as const) {
    const rig = await SessionRig.create(t);
    void rig.run(prepare, sims === undefined ? {} : { sims });
    await rig.inService();
    t.equal(rig.slot.number, number);
  }
});

t.test('an idle modem is asked little, and nothing that is urgent waits for it', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  const before = rig.port.received.length;
  await rig.pass(10 * 60_000);
  const perMinute = (rig.port.received.length - before) / 10;
  t.comment(`${perMinute} commands a minute`);
  t.ok(perMinute <= 26, `${perMinute} commands a minute`);

  rig.port.on(/^AT\+CREG\?$/, () => {
    void rig.channel?.send(atCommand('AT+TRAFFIC'));
    return lines('+CREG: 2,1', 'OK');
  });
  await rig.pass(POLL_MS);
  const at = rig.port.received.lastIndexOf('AT+CREG?');
  t.equal(rig.port.received[at + 1], 'AT+TRAFFIC');
});
