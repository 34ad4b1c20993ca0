// Delivery reports over a scripted port: matched to their command, or reported without one.
import t from 'tap';
import { isEmpty, setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { lines, TEST_ICCID } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';

/** STATUS-REPORT of message 7 from +15550000012, without its last octet, TP-ST. */
const REPORT = '07915155000000F006070B915155000010F25211211100000052112111000000';
const DELIVERED_7 = `${REPORT}00`;
/** As above, taken by the service center at 08:00:00 of that day, GMT. */
const REPORT_AT_0800 = DELIVERED_7.replace('52112111000000', '62111280000000');

const accepted = (command_id: string, at = '2026-11-21T08:00:00.000Z') => ({
  kind: 'sms_outcome' as const,
  command_id,
  outcome: { status: 'accepted' as const, message_references: [7], at },
});

t.test('a report is matched to the newest command by SIM, reference and last digits', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  const at = '2026-11-21T07:00:00.000Z';
  for (const [commandId, iccid, to] of [
    ['old', TEST_ICCID, '+15550000012'],
    ['newest', TEST_ICCID, '+445550000012'],
    ['other number', TEST_ICCID, '+15550000013'],
    ['other SIM', '8901000000000000025', '+15550000012'],
  ] as const) {
    await journal.append(
      { kind: 'intent', commandId, iccid, to, at },
      { kind: 'fact', fact: accepted(commandId) },
    );
  }
  modem.port.say(lines('+CDS: 25', DELIVERED_7));
  await until('the report', () => facts().length === 5);
  t.match(facts().at(-1), {
    kind: 'sms_report',
    command_id: 'newest',
    message_reference: 7,
    status: 'delivered',
    tp_status: 0,
    recipient: '+15550000012',
  });
});

t.test('a report in a storage is read, and an unrequested one has no command', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts } = await start();
  modem.stores['SR'] = new Map();
  modem.deliver(`${REPORT}46`, { storage: 'SR', announce: false });
  modem.port.say(lines('+CDSI: "SR",1'));
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [{ kind: 'sms_report', command_id: null, status: 'expired', tp_status: 0x46 }]);
});

t.test('a reference that came round again: the message in doubt of that time, not the old one', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  for (const [commandId, at] of [
    ['old', '2026-11-21T00:00:00.000Z'],
    ['in doubt', '2026-11-21T07:59:00.000Z'],
  ] as const) {
    await journal.append({ kind: 'intent', commandId, iccid: TEST_ICCID, to: '+15550000012', at });
  }
  const outcome = { status: 'unknown' as const, message: 'no answer', at: '2026-11-21T08:00:00.000Z' };
  await journal.append(
    { kind: 'fact', fact: accepted('old', '2026-11-21T00:00:04.000Z') },
    { kind: 'fact', fact: { kind: 'sms_outcome', command_id: 'in doubt', outcome } },
  );
  modem.port.say(lines('+CDS: 25', REPORT_AT_0800));
  await until('the report', () => facts().length > 2);
  await until('all of it', () => facts().at(-1)?.kind === 'sms_report');
  t.match(facts().slice(2), [
    { kind: 'sms_outcome', command_id: 'in doubt', outcome: { status: 'accepted', message_references: [7] } },
    { kind: 'sms_report', command_id: 'in doubt', message_reference: 7 },
  ]);
});

t.test('a report that is repeated is not one of a message in doubt', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  for (const [commandId, at] of [
    ['in doubt', '2026-11-21T07:58:00.000Z'],
    ['reported', '2026-11-21T08:00:00.000Z'],
  ] as const) {
    await journal.append({ kind: 'intent', commandId, iccid: TEST_ICCID, to: '+15550000012', at });
  }
  const outcome = { status: 'unknown' as const, message: 'no answer', at: '2026-11-21T07:59:00.000Z' };
  await journal.append(
    { kind: 'fact', fact: { kind: 'sms_outcome', command_id: 'in doubt', outcome } },
    { kind: 'fact', fact: accepted('reported') },
  );
  for (const count of [3, 4]) {
    modem.port.say(lines('+CDS: 25', REPORT_AT_0800));
    await until(`${count} facts`, () => facts().length === count);
    t.match(facts().at(-1), { kind: 'sms_report', command_id: 'reported' });
  }
});

t.test('a report that is quicker than the result of its message waits for it', async (t) => {
  const { modem, setSending, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  let done: () => void = () => undefined;
  setSending(new Promise((resolve) => (done = resolve)));
  const at = '2026-11-21T07:00:00.000Z';
  await journal.append({ kind: 'intent', commandId: 'c1', iccid: TEST_ICCID, to: '+15550000012', at });
  modem.port.say(lines('+CDS: 25', DELIVERED_7));
  await journal.append({ kind: 'fact', fact: accepted('c1') });
  done();
  await until('the report', () => facts().length === 2);
  t.match(facts()[1], { kind: 'sms_report', command_id: 'c1' });
});
