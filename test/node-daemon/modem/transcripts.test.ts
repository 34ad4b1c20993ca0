// Written dialogues with modems of each make, played to the real channel and session: who the modem is, its SIM, its
// network, how its messages are set up, one message in, one out, and what a restart means.

import t, { type Test } from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { DEFAULT_CARRIER_SETTINGS, simSettings } from '#node-daemon/config/node-config.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { modemShares } from '#node-daemon/journal/share.ts';
import { ModemSession } from '#node-daemon/modem/session.ts';
import { HostClaims, ModemClaims } from '#node-daemon/modem/sim/claims.ts';
import type { SlotReport } from '#node-daemon/slot/slot-record.ts';
import type { UsbId } from '#node-daemon/usb/usb-device.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { TranscriptModem } from './transcript.ts';

interface Expected {
  readonly transcript: string;
  readonly usbId?: UsbId;
  readonly slot: SlotReport;
  /** AT+CNMI that the modem takes, storage that receives. */
  readonly indications: string;
  readonly receiving: string;
  /** TP-Message-Reference of the message that is sent. */
  readonly reference: number;
}

const EXPECTED: readonly Expected[] = [
  {
    transcript: 'ec25',
    usbId: { vendor: '2c7c', product: '0125' },
    slot: {
      device_id: '861107030000018',
      model: 'Quectel EC25',
      iccid: '89490200001234567891',
      number: '+4915112345678',
      state: 'registered',
      reason: null,
      operator: '26202',
      signal_dbm: -65,
    },
    indications: '2,1,0,1,0',
    receiving: 'SM',
    reference: 41,
  },
  {
    transcript: 'eg25-g',
    usbId: { vendor: '2c7c', product: '0125' },
    slot: {
      device_id: '867698040000017',
      model: 'Quectel EG25',
      iccid: '8914800000123456789',
      // RSRP: -141 + 47.
      number: '+12025550100',
      state: 'registered',
      reason: null,
      operator: '311480',
      signal_dbm: -94,
    },
    indications: '2,1,0,1,0',
    receiving: 'SM',
    reference: 200,
  },
  {
    transcript: 'sim7600',
    usbId: { vendor: '1e0e', product: '9001' },
    slot: {
      device_id: '861477030000014',
      model: 'SIMCOM_SIM7600E-H',
      iccid: '8944110068256270054',
      number: '+447700900123',
      state: 'registered',
      reason: 'roaming',
      operator: '26201',
      signal_dbm: -77,
    },
    indications: '2,1,0,1,0',
    receiving: 'SM',
    reference: 0,
  },
  {
    transcript: 'e173',
    usbId: { vendor: '12d1', product: '1436' },
    slot: {
      device_id: '355445040000015',
      model: 'huawei E173',
      iccid: '8934010123456789100',
      number: '+447700900456',
      state: 'registered',
      reason: null,
      operator: '23410',
      signal_dbm: -89,
    },
    indications: '2,1,0,2,0',
    receiving: 'SM',
    reference: 56,
  },
  {
    transcript: 'e3131',
    usbId: { vendor: '12d1', product: '1506' },
    slot: {
      device_id: '863781010000016',
      model: 'huawei E3131',
      iccid: '89492002002323580169',
      number: null,
      state: 'registered',
      reason: null,
      operator: '26207',
      signal_dbm: -73,
    },
    indications: '2,1,0,1,0',
    receiving: 'SM',
    reference: 7,
  },
  {
    transcript: 'generic',
    slot: {
      device_id: '490154203237518',
      model: 'Acme Model 27007',
      iccid: '8901260222193591037',
      number: '+12065550100',
      state: 'registered',
      reason: null,
      operator: '310260',
      signal_dbm: -51,
    },
    indications: '2,1,0,1,0',
    receiving: 'SM',
    reference: 255,
  },
];

/** The operator's configuration: only the card of the EG25-G has a PIN and does not know its number. */
const SIMS = simSettings({ '8914800000123456789': { pin: '1234', number: '+12025550100' } });

async function setUp(t: Test, { transcript, usbId }: Expected) {
  const folder = temporaryFolder(t);
  const journal = await Journal.open({ folder, clock: systemClock, log: silentLogger });
  const clock = new ManualClock(Date.parse('2026-11-21T08:00:00Z'));
  const modem = new TranscriptModem(transcript);
  const channel = new AtChannel(modem.port, clock, silentLogger);
  const slot: SlotReport = {};
  const session = new ModemSession({
    random: Math.random,
    channel,
    journal,
    clock,
    log: silentLogger,
    sims: SIMS,
    carriers: DEFAULT_CARRIER_SETTINGS,
    mayWriteSettings: true,
    claims: new ModemClaims(new HostClaims(clock), () => undefined),
    shares: modemShares({ journal, clock }),
    ...(usbId === undefined ? {} : { usbId }),
    report: (report) => Object.assign(slot, report),
  });
  // Ten times as fast as it is, and slow enough for every answer.
  const advancing = setInterval(() => clock.advance(50), 5);
  t.teardown(async () => {
    clearInterval(advancing);
    await channel.close(new Error('the test is over'));
    await journal.close();
  });
  return { journal, modem, session, slot };
}

/** They have SR beside SM and ME. */
const WITH_REPORT_STORAGE = new Set(['eg25-g', 'sim7600']);

for (const expected of EXPECTED) {
  t.test(expected.transcript, async (t) => {
    const { journal, modem, session, slot } = await setUp(t, expected);
    const { port } = modem;
    const ended = session.run().catch((error: unknown) => error);

    await until('service', () => slot.state === 'registered');
    // A message that is announced before all storages were swept comes with the sweep.
    const storages = WITH_REPORT_STORAGE.has(expected.transcript) ? 3 : 2;
    await until('the first sweep', () => port.count(/^AT\+CMGL=4$/) >= storages);
    await until('the operator', () => slot.operator);
    t.match(slot, expected.slot);
    const tried = new Set(port.received.filter((line) => line.startsWith('AT+CNMI=')));
    t.equal([...tried].at(-1), `AT+CNMI=${expected.indications}`);
    const chosen = port.received.filter((line) => /^AT\+CPMS="\w+",/.test(line)).at(-1);
    t.equal(chosen, `AT+CPMS="${expected.receiving}","${expected.receiving}","${expected.receiving}"`);

    modem.play('message');
    await until('the message', () => journal.state.facts.size === 1);
    const fact = journal.state.facts.get(1);
    t.match(fact, { kind: 'sms_received', from: '+31641600986', body: 'How are you?' });
    // 20806291731408: the zone is minus zero quarters of an hour (3GPP TS 23.040 §9.2.3.11).
    const sentAt = fact?.kind === 'sms_received' ? (fact.sent_at ?? '') : '';
    t.equal(Date.parse(sentAt), Date.UTC(2002, 7, 26, 19, 37, 41));
    await until('its deletion', () => port.count(/^AT\+CMGD=/) > 0);

    modem.play('send');
    const params = { iccid: slot.iccid ?? '', to: '+46708251358', body: 'hellohello', segments_max: 1 };
    const outcome = await session.outbox?.send({
      commandId: 'c1',
      params,
      deadlineAt: Number.MAX_SAFE_INTEGER,
    });
    t.match(outcome, { status: 'accepted', message_references: [expected.reference] });

    modem.play('restart');
    t.match(await ended, { name: 'SessionEndedError', trouble: 'restarted' });
    t.equal(port.count(/^AT\+CMGD=/), 1);
    t.same(modem.unexpected, [], 'nothing was asked that is not in the dialogue');
  });
}
