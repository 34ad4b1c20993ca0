// A SIM that is exchanged and a modem that restarts without notice: nothing is reported, sent or deleted under the wrong SIM.
import t from 'tap';
import { POLL_MS } from '#node-daemon/modem/pauses.ts';
import { SIM_READING_MAX_MS } from '#node-daemon/modem/sim/sim-guard.ts';
import { PARAMS, PDU } from '../../../fixtures/nodes/scripted-outbox.ts';
import { lines } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';
import { SessionRig } from '../session-rig.ts';

/** "Hi" and "Ho" to one SIM or another. */
const HI = '07915155000000F0040B915155000010F200005211211100000002C834';
const HO = '07915155000000F0040B915155000010F200005211211100000002C837';
const OTHER_ICCID = '8901000000000000025';

/** Passes time until the reading of a poll is just too old, and the next poll is far away. Returns the readings so far. */
async function outdateReading(rig: SessionRig): Promise<number> {
  const readings = (): number => rig.port.count(/^AT\+CCID$/);
  const before = readings();
  for (let passedMs = 0; readings() === before; passedMs += SIM_READING_MAX_MS) {
    if (passedMs > 2 * POLL_MS) throw new Error('no poll read the card');
    await rig.pass(SIM_READING_MAX_MS);
  }
  await rig.pass(SIM_READING_MAX_MS);
  return readings();
}

/** Exchanged between two checks. */
async function exchange(rig: SessionRig): Promise<void> {
  await outdateReading(rig);
  rig.device.iccid = OTHER_ICCID;
}

const send = (rig: SessionRig) =>
  rig.session?.outbox
    ?.send({ commandId: 'c1', params: PARAMS, deadlineAt: Number.MAX_SAFE_INTEGER })
    .catch((refusal: unknown) => refusal);

t.test('a message to the other SIM is not reported as one to this SIM, and stays', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  await exchange(rig);
  rig.device.deliver(HI, { storage: 'SM' });
  t.match(await ended, { trouble: 'sim_changed' });
  t.equal(rig.journal.state.facts.size, 0);
  t.ok(rig.device.stores['SM']?.has(1));
  t.equal(rig.port.count(/^AT\+CMGD/), 0);
});

t.test('a message that is delivered directly is not reported and not acknowledged', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  await exchange(rig);
  rig.port.say(lines(`+CMT: ,${HI.length / 2 - 8}`, HI));
  t.match(await ended, { trouble: 'sim_changed' });
  t.equal(rig.journal.state.facts.size, 0);
  t.equal(rig.port.count(/^AT\+CNMA/), 0);
});

t.test('nothing is sent from the other SIM', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  await exchange(rig);
  t.match(await send(rig), { code: 'slot_unavailable' });
  t.match(await ended, { trouble: 'sim_changed' });
  t.equal(rig.port.count(PDU), 0);
  t.equal(rig.journal.state.commands.get('c1'), undefined, 'and it may be given again');
});

t.test('nothing is deleted from the other SIM', async (t) => {
  const { rig, ended } = await SessionRig.startInService(t);
  await outdateReading(rig);
  rig.port.on(/^AT\+CMGD/, lines('+CMS ERROR: 500'));
  rig.device.deliver(HI, { storage: 'SM' });
  await until('a deletion that is refused', () => rig.port.count(/^AT\+CMGD/) === 1);
  // The same place of the other card.
  rig.port.on(/^AT\+CMGL/, () => {
    rig.device.stores['SM']?.set(1, { status: 0, pdu: HO });
    rig.device.iccid = OTHER_ICCID;
    return lines('+CMGL: 1,1,,21', HI, 'OK');
  });
  rig.startTime();
  t.match(await ended, { trouble: 'sim_changed' });
  t.equal(rig.port.count(/^AT\+CMGD/), 1);
});

t.test('a card is read once a second at most, and a passing error is no other card', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  const before = await outdateReading(rig);
  rig.port.on(/^AT\+CCID$/, () => {
    return rig.port.count(/^AT\+CCID$/) === before + 1
      ? lines('+CME ERROR: 14')
      : lines(`+CCID: ${rig.device.iccid}F`, 'OK');
  });
  for (const index of [1, 2, 3]) rig.device.deliver(HI, { index });
  await until('the first look', () => rig.port.count(/^AT\+CCID$/) > before);
  await rig.pass(SIM_READING_MAX_MS / 2);
  await until('all three', () => rig.journal.state.facts.size === 3);
  t.equal(rig.port.count(/^AT\+CCID$/), before + 2);
});

t.test('a modem that restarted without a word and forgot its storage deletes no other message', async (t) => {
  const { rig } = await SessionRig.startInService(t);
  rig.port.on(/^AT\+CMGR=1$/, () => {
    // As new: what arrives goes to the SIM, and commands do, too.
    const read = lines('+CMGR: 0,,21', HI, 'OK');
    rig.device.selected = 'SM';
    rig.device.deliver(HO, { storage: 'SM', announce: false });
    return read;
  });
  rig.device.deliver(HI, { storage: 'ME' });
  await until('its deletion', () => rig.device.stores['ME']?.size === 0);
  t.ok(rig.device.stores['SM']?.has(1), 'no client has read it');
});
