// Our DELIVERs and STATUS-REPORTs against those that python3-gammu reads and writes the same way.
import t from 'tap';
import { addressFromText, linePduOf, tpduOfLinePdu } from '#hardware-sim/pdu/address.ts';
import { decodeDeliver, encodeDeliver, encodeStatusReport } from '#hardware-sim/pdu/deliver.ts';
import { PduError } from '#hardware-sim/pdu/octets.ts';
import { segmentsOf } from '#hardware-sim/pdu/segments.ts';
import { encodeTimestamp, timestampToText } from '#hardware-sim/pdu/timestamp.ts';
import { concatenationHeader, type UserData, ucs2FromText } from '#hardware-sim/pdu/user-data.ts';

const SERVICE_CENTRE = '+15550000000';
/** The vectors' time stamp is 52 11 21 11 00 00 00: 25/11/12, 11:00:00, UTC. */
const AT_MS = Date.UTC(2025, 10, 12, 11, 0, 0);

function deliver(originator: string, userData: UserData | undefined): string {
  if (userData === undefined) throw new Error('no segment');
  const tpdu = encodeDeliver({
    originator,
    protocolIdentifier: 0,
    hasReplyPath: false,
    timestamp: encodeTimestamp(AT_MS, 0),
    userData,
  });
  return linePduOf(SERVICE_CENTRE, tpdu);
}

function only(text: string): UserData | undefined {
  return segmentsOf(text, { referenceBits: 8, reference: 1 })[0];
}

t.test('writes the golden DELIVERs', async (t) => {
  const head = '07915155000000F0';
  t.equal(deliver('GOOGLE', only('Hi')), `${head}040BD0C7E7F3C82C0200005211211100000002C834`);
  t.equal(deliver('12345', only('Hi')), `${head}0405812143F500005211211100000002C834`);
  t.equal(deliver('+15550000012', only('😀')), `${head}040B915155000010F200085211211100000004D83DDE00`);
  t.equal(
    deliver('+15550000012', only('1234567')),
    `${head}040B915155000010F20000521121110000000731D98C56B3DD00`,
  );
});

t.test('writes the golden concatenated DELIVER in UCS-2', async (t) => {
  const header = concatenationHeader({ reference: 0x1234, referenceBits: 16, total: 2, part: 1 });
  const octets = Buffer.concat([header, ucs2FromText('AB')]);
  const userData = { dataCodingScheme: 8, hasHeader: true, length: octets.length, octets };
  t.equal(
    deliver('+15550000012', userData),
    '07915155000000F0440B915155000010F20008521121110000000B0608041234020100410042',
  );
});

t.test('writes the golden status reports', async (t) => {
  for (const [mr, status] of [
    [7, 0x00],
    [8, 0x46],
    [9, 0x30],
  ] as const) {
    const tpdu = encodeStatusReport({
      messageReference: mr,
      recipient: addressFromText('+15550000012'),
      submittedAt: encodeTimestamp(AT_MS, 0),
      dischargedAt: encodeTimestamp(AT_MS, 0),
      status,
    });
    const octet = (value: number): string => value.toString(16).padStart(2, '0');
    t.equal(
      linePduOf(SERVICE_CENTRE, tpdu),
      `07915155000000F006${octet(mr)}0B915155000010F25211211100000052112111000000${octet(status)}`,
    );
  }
});

t.test('writes the sign of a time zone into bit 3 of its octet', async (t) => {
  // 3GPP TS 23.040 §9.2.3.11: 32 quarter hours are the digits 3 and 2, swapped; minus adds 0x08.
  const west = encodeTimestamp(AT_MS, -32);
  t.equal(west.toString('hex'), '5211213000002b');
  t.equal(timestampToText(west), '25/11/12,03:00:00-32');
  t.equal(timestampToText(encodeTimestamp(AT_MS, 32)), '25/11/12,19:00:00+32');
});

t.test('reads a DELIVER without service centre and refuses broken ones', async (t) => {
  const read = decodeDeliver(tpduOfLinePdu('00040B915155000010F200005211211100000002C834'));
  t.same(read.originator, { typeOfAddress: 0x91, value: '15550000012' });
  t.throws(() => tpduOfLinePdu('0'), PduError);
  t.throws(() => tpduOfLinePdu('0C91'), PduError);
  t.throws(() => tpduOfLinePdu('0791515500'), PduError);
  t.throws(() => decodeDeliver(Buffer.from('040B9151', 'hex')), PduError);
});

t.test('refuses names that do not fit an address', async (t) => {
  t.throws(() => deliver('TWELVE CHARS', only('Hi')), PduError);
  t.throws(() => deliver('Ж', only('Hi')), PduError);
  t.throws(() => deliver(`+${'1'.repeat(21)}`, only('Hi')), PduError);
});
