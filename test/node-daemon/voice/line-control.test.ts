// A line whose modem sends lines at the wrong time: no unknown call is left up, and each call ends once.
import t from 'tap';
import { GENERIC_VOICE } from '#node-daemon/profiles/generic.ts';
import { HUAWEI_VOICE } from '#node-daemon/profiles/huawei.ts';
import { QUECTEL_VOICE } from '#node-daemon/profiles/quectel.ts';
import { SIMCOM_VOICE } from '#node-daemon/profiles/simcom.ts';
import { lines } from '../../fixtures/nodes/scripted-port.ts';
import { LineRig, runTasks } from './line-rig.ts';

const MAKES = new Map([
  [GENERIC_VOICE, 'generic'],
  [QUECTEL_VOICE, 'quectel'],
  [SIMCOM_VOICE, 'simcom'],
  [HUAWEI_VOICE, 'huawei'],
]);
const TO = '+13105550188';

/** A modem that has a call from the ATD on, until it is hung up. */
function dialling(rig: LineRig): LineRig {
  rig.port.on(/^ATD/, () => {
    rig.calls = [`+CLCC: 1,0,2,0,0,"${TO}",145`];
    return lines('OK');
  });
  return rig;
}

async function turnsOf(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

for (const [voice, make] of MAKES) {
  t.test(`${make}: hung up at any moment of the dialling: none is left up`, async (t) => {
    for (let turns = 0; turns <= 12; turns += 1) {
      const rig = dialling(new LineRig(voice));
      const dialled = rig.line.dial(TO);
      await turnsOf(turns);
      const hungUp = rig.line.hangUp('local_hangup');
      await rig.pass(5_000);
      await hungUp;
      t.match(await dialled, { status: 'ended', reason: 'local_hangup' });
      t.same(rig.calls, [], `after ${turns} turns a call is up: ${rig.port.received}`);
      t.equal(rig.ends.length, 1);
    }
  });

  t.test(`${make}: the end of the call before comes late: no unknown call is up`, async (t) => {
    for (let turns = 0; turns <= 12; turns += 1) {
      const rig = dialling(new LineRig(voice));
      void rig.line.dial(TO);
      await turnsOf(turns);
      // As long as ATD has no answer it is one.
      if (rig.port.count(/^ATD/) > 0) await runTasks();
      rig.port.say(lines('NO CARRIER'));
      await rig.pass(5_000);
      t.ok(rig.line.isBusy || rig.calls.length === 0, `after ${turns} turns: ${rig.port.received}`);
    }
  });
}

t.test('the end of the call before, between ATD and its answer: none is left up', async (t) => {
  const rig = new LineRig(QUECTEL_VOICE);
  rig.port.on(/^ATD/, () => {
    rig.calls = [`+CLCC: 1,0,2,0,0,"${TO}",145`];
    return lines('NO CARRIER');
  });
  const dialled = rig.line.dial(TO);
  await rig.pass(100);
  rig.port.say(lines('OK'));
  await rig.pass(5_000);
  t.match(await dialled, { status: 'ended' });
  t.same(rig.calls, [], `${rig.port.received}`);
  t.notOk(rig.line.isBusy);
});

t.test('two lines about one end count once, and late lines do not bring the call back', async (t) => {
  const rig = new LineRig(SIMCOM_VOICE);
  rig.calls = [`+CLCC: 1,1,4,0,0,"${TO}",145`];
  await rig.say('RING', `+CLIP: "${TO}",145`);
  await rig.line.answer();
  rig.calls = [];
  await rig.say('VOICE CALL: END: 000017', 'NO CARRIER');
  t.same(rig.ends, [{ reason: 'remote_hangup', cause: 16 }]);
  await rig.say('NO CARRIER', `+CLCC: 1,1,0,0,0,"${TO}",145`, 'VOICE CALL: BEGIN', 'MISSED_CALL: 11:01AM 1');
  await rig.pass(60_000);
  t.notOk(rig.line.isBusy);
  t.equal(rig.ends.length, 1);
});

t.test('the end of a call that waited is not taken for ours', async (t) => {
  const rig = new LineRig(QUECTEL_VOICE);
  rig.port.on(/^ATD/, () => {
    rig.calls = [`+CLCC: 1,0,0,0,0,"${TO}",145`];
    return lines('OK');
  });
  const dialled = rig.line.dial(TO);
  await rig.pass(1_000);
  t.same(await dialled, { status: 'active' });
  await rig.say('+QIND: "ccinfo",2,1,-1,0,0,"+12065550100",145');
  await rig.pass(5_000);
  t.ok(rig.line.isBusy, 'the list still has it');
  t.equal(rig.port.count(/^AT(\+CHUP|H)$/), 0);
  rig.calls = [];
  await rig.say('+QIND: "ccinfo",1,0,-1,0,0,"+13105550188",145');
  await rig.pass(1_000);
  t.match(rig.ends, [{ reason: 'remote_hangup', cause: 16 }]);
});

t.test(
  'ends have their causes: rejected, not answered, and the modem’s cause for an answered one',
  async (t) => {
    const rejected = new LineRig(QUECTEL_VOICE);
    rejected.calls = ['+CLCC: 1,1,4,0,0,"+12065550100",145'];
    await rejected.say('RING');
    await rejected.pass(200);
    await Promise.all([rejected.line.hangUp('rejected'), rejected.pass(5_000)]);
    t.match(rejected.ends, [{ reason: 'rejected', cause: 21 }]);
    const lost = new LineRig(QUECTEL_VOICE);
    lost.port.on(/^AT\+CEER$/, lines('+CEER: 5,38', 'OK')).on(/^ATD/, () => {
      lost.calls = [`+CLCC: 1,0,0,0,0,"${TO}",145`];
      return lines('OK');
    });
    const dialled = lost.line.dial(TO);
    await lost.pass(1_000);
    t.same(await dialled, { status: 'active' });
    lost.calls = [];
    await lost.say('NO CARRIER');
    await lost.pass(1_000);
    t.match(lost.ends, [{ reason: 'network_failure', cause: 38 }]);
  },
);

const RINGS = ['RING', '+CLIP: "+12065550101",145'];
const NEXT = '+CLCC: 1,1,4,0,0,"+12065550102",145';

t.test(
  'the caller gives up while audio is turned on for the answer: the next one is not answered',
  async (t) => {
    const rig = new LineRig(HUAWEI_VOICE);
    rig.calls = ['+CLCC: 1,1,4,0,0,"+12065550101",145'];
    await rig.say(...RINGS);
    const { port } = rig;
    let isHeld = true;
    port.on(/^AT\^DDSETEX=2$/, () => {
      if (!isHeld) return lines('OK');
      isHeld = false;
      rig.calls = [];
      port.say(lines('NO CARRIER'));
      rig.calls = [NEXT];
      return lines('ERROR');
    });
    const answered = rig.line.answer();
    const refused = t.rejects(answered, { code: 'call_unknown' });
    await rig.pass(3_000);
    await refused;
    t.equal(port.count(/^ATA$/), 0, `${port.received}`);
  },
);

t.test('hanging up one call leaves the caller who rings next', async (t) => {
  for (const before of ['rings', 'answered'] as const) {
    const rig = new LineRig(QUECTEL_VOICE);
    rig.calls = ['+CLCC: 1,1,4,0,0,"+12065550101",145'];
    await rig.say(...RINGS);
    if (before === 'answered') await rig.line.answer();
    rig.port.on(/^AT\+CHUP$/, () => {
      rig.calls = [NEXT];
      return lines('OK');
    });
    await Promise.all([rig.line.hangUp('rejected'), rig.pass(5_000)]);
    t.equal(rig.port.count(/^AT(\+CHUP|H)$/), 1, before);
    await rig.say('RING', '+CLIP: "+12065550102",145');
    await rig.pass(200);
    t.match(rig.reported.at(-1), { direction: 'inbound', state: 'ringing', peer: '+12065550102' });
  }
});

t.test('a caller whose ring is not read yet is not hung up for a number that is dialed', async (t) => {
  const rig = dialling(new LineRig(QUECTEL_VOICE));
  rig.calls = [NEXT];
  const dialed = rig.line.dial(TO);
  await rig.pass(1_000);
  t.match(await dialed, { status: 'ended', reason: 'network_failure', cause: 41 });
  t.same([rig.port.count(/^AT(\+CHUP|H)$/), rig.port.count(/^ATD/)], [0, 0]);
  await rig.say('RING');
  await rig.pass(200);
  t.match(rig.reported.at(-1), { direction: 'inbound', peer: '+12065550102' });
});

t.test('a caller whose number comes late is reported then; one who hides stays hidden', async (t) => {
  const rig = new LineRig();
  rig.calls = ['+CLCC: 1,1,4,0,0'];
  await rig.say('RING');
  await rig.pass(200);
  t.match(rig.reported.at(-1), { direction: 'inbound', state: 'ringing' });
  await rig.say('RING', `+CLIP: "${TO}",145`);
  t.equal(rig.reported.at(-1)?.peer, TO);
  const hidden = new LineRig();
  hidden.calls = ['+CLCC: 1,1,4,0,0,"",128'];
  await hidden.say('RING', '+CLIP: "",128,,,,1');
  await hidden.pass(10_000);
  await hidden.say('RING', '+CLIP: "",128,,,,1');
  t.equal(hidden.reported.at(-1)?.peer, null);
  t.equal(hidden.reported.length, 1, 'reported once: nothing has changed');
});

for (const error of ['ERROR', '+CME ERROR: 14']) {
  t.test(`${error} in place of the list of calls ends no call`, async (t) => {
    const rig = dialling(new LineRig(QUECTEL_VOICE));
    let errors = 0;
    rig.port.on(/^AT\+CLCC$/, () => {
      errors -= 1;
      return errors >= 0 ? lines(error) : lines(...rig.calls, 'OK');
    });
    const dialled = rig.line.dial(TO);
    await rig.pass(1_000);
    rig.calls = [`+CLCC: 1,0,0,0,0,"${TO}",145`];
    await rig.pass(1_000);
    t.match(await dialled, { status: 'active' });
    errors = 2;
    await rig.pass(20_000);
    t.same(rig.ends, []);
    t.ok(rig.line.isBusy);
    rig.calls = [];
    await rig.pass(6_000);
    t.match(rig.ends, [{ reason: 'remote_hangup' }]);
  });

  t.test(`${error} to a hang-up, and in place of the list: it is repeated`, async (t) => {
    const rig = dialling(new LineRig(QUECTEL_VOICE));
    void rig.line.dial(TO);
    await rig.pass(1_000);
    let errors = 3;
    rig.port.on(/^AT(\+CLCC|\+CHUP|H)$/, ([command]) => {
      errors -= 1;
      if (errors >= 0) return lines(error);
      if (command !== 'AT+CLCC') rig.calls = [];
      return lines(...rig.calls, 'OK');
    });
    const hungUp = rig.line.hangUp('local_hangup');
    await rig.pass(5_000);
    await hungUp;
    t.same(rig.calls, []);
    t.match(rig.ends, [{ reason: 'local_hangup' }]);
  });
}

t.test('a call that was left is found once the modem is no longer busy', async (t) => {
  const rig = new LineRig(QUECTEL_VOICE);
  rig.calls = [`+CLCC: 1,0,0,0,0,"${TO}",145`];
  let errors = 2;
  rig.port.on(/^AT\+CLCC$/, () => {
    errors -= 1;
    return errors >= 0 ? lines('+CME ERROR: 14') : lines(...rig.calls, 'OK');
  });
  const cleared = rig.line.clear();
  await rig.pass(2_000);
  t.equal(await cleared, false);
  t.same(rig.calls, []);
});
