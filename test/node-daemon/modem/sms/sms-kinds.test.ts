// Kinds of messages that arrive: given directly, flash, silent, lamps, replacements; many at once; a disk that refuses.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { CALM_MS } from '#node-daemon/journal/disk-trouble.ts';
import { LAZY_SYNC_MS } from '#node-daemon/journal/journal-writer.ts';
import { LateParts, PARTS_WAIT_MS } from '#node-daemon/modem/sms/late-parts.ts';
import { GROUPS_MAX } from '#node-daemon/modem/sms/sms-recorder.ts';
import { isEmpty, setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { lines, TEST_ICCID, TEST_IMEI } from '../../../fixtures/nodes/scripted-port.ts';
import { recordedLog } from '../../../fixtures/recorded-log.ts';
import { until } from '../../../fixtures/until.ts';

const SENDER = '07915155000000F0';
/** A DELIVER "Hi" from +15550000012 with this TP-PID, TP-DCS and second of its time stamp. */
const hi = ({ pid = '00', dcs = '00', second = '00', data = '02C834' } = {}): string =>
  `${SENDER}040B915155000010F2${pid}${dcs}5211211100${second}00${data}`;

const octet = (value: number): string => value.toString(16).padStart(2, '0');

const PART = {
  from: '+1',
  text: 'x',
  sentAt: null,
  receivedAt: '2026-11-21T08:00:00.000Z',
  reference: 1,
  referenceBits: 8,
  total: 2,
  part: 1,
} as const;

t.test(
  'given directly it is acknowledged when it is durable, where the network waits for that',
  async (t) => {
    for (const [service, acknowledged] of [
      ['+CSMS: 1,1,1,1', 1],
      ['+CSMS: 0,1,1,1', 0],
      ['ERROR', 0],
    ] as const) {
      const { modem, start } = await setUpInbox(t);
      const { journal, facts } = await start();
      let factsAtAcknowledgement = 0;
      modem.port.on(/^AT\+CSMS\?$/, service === 'ERROR' ? lines('ERROR') : lines(service, 'OK'));
      modem.port.on(/^AT\+CNMA=1$/, () => {
        factsAtAcknowledgement = journal.state.facts.size;
        return lines('OK');
      });
      modem.port.say(lines('+CMT: ,22', hi()));
      await until('the question', () => modem.port.count(/^AT\+CSMS\?$/) === 1);
      if (acknowledged) await until('the acknowledgement', () => factsAtAcknowledgement > 0);
      await until('the fact', () => facts().length === 1);
      t.equal(modem.port.count(/^AT\+CNMA/), acknowledged, service);
      modem.port.say(lines('+CDS: 25', `${SENDER}06070B915155000010F2521121110000005211211100000000`));
      await until('the report', () => facts().length === 2);
      if (acknowledged) await until('its acknowledgement', () => modem.port.count(/^AT\+CNMA=1$/) === 2);
      t.equal(modem.port.count(/^AT\+CSMS\?$/), 1, 'asked once');
    }
  },
);

t.test('given directly again, because the acknowledgement was lost, it is the same message', async (t) => {
  const part = (number: number): string =>
    hi({ dcs: '08', data: `0A050003AB020${number}00480069` }).replace(`${SENDER}04`, `${SENDER}44`);
  for (const pdus of [[hi()], [part(1), part(2)]]) {
    const { clock, modem, openInbox, start } = await setUpInbox(t);
    const serve = (answer: () => string | undefined) =>
      modem.port.on(/^AT\+CSMS\?$/, lines('+CSMS: 1,1,1,1', 'OK')).on(/^AT\+CNMA=1$/, answer);
    const give = (pdu = ''): void => modem.port.say(lines('+CMT: ,22', pdu));
    const first = await start();
    serve(() => lines('OK'));
    for (const pdu of pdus.slice(0, -1)) give(pdu);
    await until('the others', () => modem.port.count(/^AT\+CNMA=1$/) === pdus.length - 1);
    serve(() => undefined);
    give(pdus.at(-1));
    await until('its acknowledgement', () => modem.port.count(/^AT\+CNMA=1$/) === pdus.length);
    first.crash();

    openInbox(first.journal);
    serve(() => undefined);
    give(pdus.at(-1));
    give(pdus.at(-1));
    await until('its acknowledgement in another session', () => modem.port.count(/^AT\+CNMA=1$/) === 1);
    await first.journal.close();

    const { bodies, journal } = await start([], false);
    serve(() => lines('OK'));
    give(pdus.at(-1));
    await until('its acknowledgement after a kill', () => {
      clock.advance(LAZY_SYNC_MS);
      return journal.state.entries.size === 0;
    });
    t.equal(bodies().length, 1);
    give(pdus.at(-1));
    await until(
      'an equal one after the acknowledgement',
      () => bodies().length + journal.state.groups.size === 2,
    );
  }
});

t.test('given directly by a modem that refuses each acknowledgement, few are remembered', async (t) => {
  const MESSAGES = 600;
  const { modem, start } = await setUpInbox(t);
  const { bodies, journal } = await start();
  modem.port.on(/^AT\+CSMS\?$/, lines('+CSMS: 1,1,1,1', 'OK')).on(/^AT\+CNMA/, lines('+CMS ERROR: 500'));
  for (let index = 0; index < MESSAGES; index += 1) {
    const second = String(index % 60).padStart(2, '0');
    const pid = String(Math.floor(index / 60)).padStart(2, '0');
    modem.port.say(lines('+CMT: ,22', hi({ pid, second })));
  }
  await until('all', () => bodies().length === MESSAGES);
  t.ok(journal.state.entries.size <= 256, String(journal.state.entries.size));
});

t.test('delivered directly to a disk that refuses, it is left to the network', async (t) => {
  const { clock, disk, modem, start } = await setUpInbox(t);
  const { bodies, journal } = await start();
  const changes: boolean[] = [];
  journal.onFailing(() => changes.push(journal.isFailing));
  modem.port.on(/^AT\+CSMS\?$/, lines('+CSMS: 1,1,1,1', 'OK'));
  disk.full = true;
  modem.port.say(lines('+CMT: ,22', hi()));
  await until('the refusal', () => modem.port.count(/^AT\+CNMA=2$/) === 1);
  t.same(bodies(), []);
  t.equal(journal.isFailing, true);
  disk.full = false;
  modem.port.say(lines('+CMT: ,22', hi()));
  await until('the message, given again', () => bodies().length === 1);
  t.equal(journal.isFailing, true);
  clock.advance(CALM_MS);
  t.equal(journal.isFailing, false);
  t.same(changes, [true, false], 'an alarm, and its end');
});

t.test('a journal that was deleted: a message stays on the modem until a kill cannot lose it', async (t) => {
  const { clock, folder, modem, start } = await setUpInbox(t);
  const { crash, inbox, journal } = await start();
  // The last that the first sweep writes: the next to find the file gone is the message.
  await until('the card', () => journal.state.cards.get(TEST_IMEI) === TEST_ICCID);
  await rm(join(folder, 'journal.log'));
  modem.deliver(hi());
  await until('the alarm', () => journal.isFailing);
  t.notOk(isEmpty(modem));
  await inbox.sweep();
  t.ok(isEmpty(modem));
  crash();
  const { bodies } = await start([], false);
  t.same(bodies(), ['Hi']);
  clock.advance(CALM_MS);
  t.equal(journal.isFailing, false);
});

t.test('an acknowledgement that comes too late is no failure', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.port.on(/^AT\+CSMS\?$/, lines('+CSMS: 1,1,1,1', 'OK'));
  modem.port.on(/^AT\+CNMA/, lines('+CMS ERROR: 340'));
  modem.port.say(lines('+CMT: ,22', hi({ second: '10' }), '+CMT: ,22', hi({ second: '20' })));
  await until('both', () => bodies().length === 2);
});

t.test('flash messages are messages, stored, direct and with an announcement of their own', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.deliver(hi({ dcs: '10' }));
  modem.port.say(lines('+CMT: ,22', hi({ dcs: 'F0', second: '10' })));
  modem.port.say(lines('+CLASS0: ,22', hi({ dcs: '10', second: '20' })));
  await until('all', () => bodies().length === 3);
  t.same(bodies(), ['Hi', 'Hi', 'Hi']);
});

t.test('a silent message is deleted and not reported', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts, inbox } = await start();
  modem.deliver(hi({ pid: '40' }));
  await until('an empty store', () => isEmpty(modem));
  await inbox.sweep();
  t.same(facts(), []);
});

t.test('a waiting indication without a text is no message; with a text it is one', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.deliver(hi({ dcs: 'C8', data: '00' }), { index: 1 });
  modem.deliver(hi({ dcs: 'D8', data: '01 20'.replace(' ', '') }), { index: 2 });
  modem.deliver(hi({ dcs: 'C8' }), { index: 3 });
  modem.deliver(hi({ data: '00' }), { index: 4 });
  await until('an empty store', () => isEmpty(modem));
  t.same(bodies().sort(), ['', 'Hi'], 'an empty message without a lamp is one');
});

t.test('a replacement is a message of its own: the first one may have been read', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.deliver(hi({ pid: '41' }), { index: 1 });
  modem.deliver(hi({ pid: '41', second: '10' }), { index: 2 });
  await until('an empty store', () => isEmpty(modem));
  t.equal(bodies().length, 2);
});

t.test('many announced at once are read with one command, in the order in which they came', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts } = await start(['ME']);
  const lists = modem.port.count(/^AT\+CMGL/);
  // Places are used again: the order of places is none of arrival.
  const places = [5, 3, 8, 1, 7, 2, 6, 4];
  const pdus = places.map((_, order) =>
    hi({ second: `${order}0`, data: `01${(0x30 + order).toString(16)}` }),
  );
  for (const [order, index] of places.entries()) {
    modem.deliver(pdus[order] ?? '', { index, announce: false });
  }
  modem.port.say(lines(...places.map((index) => `+CMTI: "ME",${index}`)));
  await until('an empty store', () => isEmpty(modem));
  t.same(
    facts().map((fact) => fact.kind === 'sms_received' && fact.body),
    ['0', '1', '2', '3', '4', '5', '6', '7'],
  );
  t.equal(modem.port.count(/^AT\+CMGR/), 0);
  t.equal(modem.port.count(/^AT\+CMGL/) - lists, 1);
});

t.test('a list that the modem refuses: each message is read by itself', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start(['ME']);
  modem.port.on(/^AT\+CMGL/, lines('+CMS ERROR: 500'));
  for (let index = 1; index <= 8; index += 1) modem.deliver(hi({ second: `${index}0` }), { index });
  await until('an empty store', () => isEmpty(modem));
  t.equal(bodies().length, 8);
});

t.test('a joined text that is longer than a fact is several, and none of it is lost', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start(['ME']);
  // A network carries 140 octets in a part, a modem that lies more.
  const part = (index: number): string =>
    `${SENDER}440B915155000010F2000452112111000000FF0500032AB4${octet(index)}${octet(0x40 + (index % 32)).repeat(249)}`;
  for (let index = 1; index <= 180; index += 1) modem.deliver(part(index), { index });
  await until('an empty store', () => isEmpty(modem), 30_000);
  const text = Array.from({ length: 180 }, (_, index) =>
    String.fromCharCode(0x40 + ((index + 1) % 32)).repeat(249),
  ).join('');
  t.equal(bodies().join(''), text);
  t.ok(bodies().length > 1);
});

t.test('parts that the link does not carry are reported as they are, and logged once', async (t) => {
  const { log, lines: logged } = recordedLog();
  const { clock, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  const part = { ...PART, text: 'Hi', sentAt: 'a time that the link refuses' };
  await journal.append(
    { kind: 'part', group: 'g', iccid: TEST_ICCID, part },
    { kind: 'part', group: 'g', iccid: TEST_ICCID, part: { ...part, part: 2, pdu: '07AB' } },
    { kind: 'part', group: 'another', iccid: TEST_ICCID, part: PART },
  );
  const late = new LateParts({ journal, clock, log });
  clock.advance(PARTS_WAIT_MS);
  for (let time = 0; time < 3; time += 1) await late.deliver();
  t.equal(journal.state.groups.size, 0);
  t.match(
    facts().sort((a, b) => a.kind.localeCompare(b.kind)),
    [
      { kind: 'sms_received', body: 'x' },
      { kind: 'sms_unreadable', iccid: TEST_ICCID, pdu: '00480069', reason: /UCS-2.*sent_at/ },
      { kind: 'sms_unreadable', iccid: TEST_ICCID, pdu: '07AB', reason: /sent_at/ },
    ],
  );
  t.match(logged, [{ level: 'error', message: 'an incomplete message is reported as unreadable' }]);
  t.equal(logged.length, 1);
});

t.test('with more unfinished messages than there is room for, a new one is reported as it is', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  const waiting = Array.from({ length: GROUPS_MAX }, (_, index) => ({
    kind: 'part' as const,
    group: `g${index}`,
    iccid: TEST_ICCID,
    part: PART,
  }));
  await journal.append(...waiting);
  modem.deliver(`${SENDER}440B915155000010F2000052112111000000090500032A02018242`);
  await until('the part', () => facts().length === 1);
  t.match(facts(), [{ body: 'AB', partial: true }]);
  t.equal(journal.state.groups.size, GROUPS_MAX);
});
