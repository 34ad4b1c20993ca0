// TPDUs against octets that other people's encoders made, and against 3GPP TS 23.040 and 23.038.
import t from 'tap';
import { type Deliver, decodeReceived, encodeSubmit, type StatusReport } from '#node-daemon/sms/tpdu.ts';
import { TpduError } from '#node-daemon/sms/tpdu-error.ts';
import { segmentText } from '#shared/sms/segmentation.ts';

const SMSC = '07915155000000F0';

/** The TPDU of an SMS-SUBMIT to +15550001234 with the settings of the foreign encoder. */
function submit(
  text: string,
  part?: { reference: number; referenceBits: 8 | 16; total: number; part: number },
) {
  const { encoding } = segmentText(text);
  const { pdu, length } = encodeSubmit({
    to: '+15550001234',
    text,
    encoding,
    statusReport: false,
    validityPeriod: 0,
    ...(part === undefined ? {} : { concatenation: part }),
  });
  t.equal(length, pdu.length / 2 - 1, 'the length leaves the SMSC field out');
  return pdu;
}

function deliver(pdu: string): Deliver {
  const decoded = decodeReceived(pdu);
  if (decoded.kind !== 'deliver') throw new Error(decoded.kind);
  return decoded;
}

function textOf(pdu: string): string {
  const { content } = deliver(pdu).userData;
  return content.kind === 'text' ? content.text : `octets ${Buffer.from(content.octets).toString('hex')}`;
}

/** A DELIVER from +15550000012 with this DCS, TP-UDL and TP-UD. */
const withData = (dcs: string, data: string, firstOctet = '04'): string =>
  `${SMSC}${firstOctet}0B915155000010F200${dcs}52112111000000${data}`;

t.test('SMS-SUBMIT as python-gammu encodes it', async (t) => {
  t.equal(submit('Hello world'), '0011000B915155001032F40000000BC8329BFD06DDDF723619');
  t.equal(submit('[€] {~}'), '0011000B915155001032F40000000D1BDEA6BCF18136A84D6F9302');
  t.equal(submit('Ж'), '0011000B915155001032F4000800020416');
  t.equal(submit('a😀'), '0011000B915155001032F4000800060061D83DDE00');
  t.equal(
    submit('A'.repeat(8), { reference: 0x42, referenceBits: 8, total: 2, part: 2 }),
    '0051000B915155001032F40000000F05000342020282C16030180C0601',
  );
  t.equal(
    submit('B'.repeat(9), { reference: 0x0242, referenceBits: 16, total: 2, part: 2 }),
    '0051000B915155001032F4000000110608040242020242A15028140A8542',
  );
});

t.test('SMS-SUBMIT asks for a status report in bit 5', async (t) => {
  const { pdu } = encodeSubmit({
    to: '+15550001234',
    text: 'Hi',
    encoding: 'gsm7',
    statusReport: true,
    validityPeriod: 167,
  });
  t.equal(pdu, '0031000B915155001032F40000A702C834');
});

t.test('SMS-SUBMIT refuses what does not fit or cannot be addressed', async (t) => {
  const fields = { to: '+1555', text: 'x', encoding: 'gsm7' as const, statusReport: true, validityPeriod: 0 };
  t.throws(() => encodeSubmit({ ...fields, text: 'x'.repeat(161) }), TpduError);
  t.throws(() => encodeSubmit({ ...fields, text: 'Ж' }), TpduError);
  t.throws(() => encodeSubmit({ ...fields, text: 'Ж'.repeat(71), encoding: 'ucs2' }), TpduError);
  t.throws(() => encodeSubmit({ ...fields, to: '+1555*' }), TpduError);
});

t.test('SMS-DELIVER: senders', async (t) => {
  t.equal(deliver(`${SMSC}040BD0C7E7F3C82C0200005211211100000002C834`).from, 'GOOGLE');
  t.equal(deliver(`${SMSC}0405812143F500005211211100000002C834`).from, '12345');
  t.equal(deliver(`${SMSC}040B915155000010F200085211211100000004D83DDE00`).from, '+15550000012');
  t.equal(deliver(`${SMSC}0405A12143F500005211211100000002C834`).from, '12345', 'national');
  t.equal(deliver(`${SMSC}0404811ABC00005211211100000002C834`).from, '*1a#', 'a service code');
  t.equal(deliver(`${SMSC}04008100005211211100000002C834`).from, '', 'none');
});

t.test('SMS-DELIVER: texts', async (t) => {
  t.equal(textOf(`${SMSC}040B915155000010F200085211211100000004D83DDE00`), '😀');
  t.equal(textOf(withData('08', '04FEFF0078')), '\ufeffx', 'no character is taken for a byte order mark');
  t.equal(textOf(`${SMSC}040B915155000010F20000521121110000000731D98C56B3DD00`), '1234567', 'no false "@"');
  t.equal(textOf('00040B915155000010F200005211211100000002C834'), 'Hi', 'no SMSC');
});

t.test('SMS-DELIVER: parts', async (t) => {
  const wide = deliver(`${SMSC}440B915155000010F20008521121110000000B0608041234020100410042`).userData;
  t.same(wide.concatenation, { reference: 0x1234, referenceBits: 16, total: 2, part: 1 });
  t.same(wide.content, { kind: 'text', text: 'AB' });
  const narrow = deliver(`${SMSC}440B915155000010F2000052112111000000090500032A02018242`).userData;
  t.same(narrow.concatenation, { reference: 42, referenceBits: 8, total: 2, part: 1 });
  t.same(narrow.content, { kind: 'text', text: 'AB' });
});

t.test('a part number outside of its message makes it no part', async (t) => {
  for (const element of ['0500032A0203', '0500032A0200', '0500032A0001']) {
    const pdu = withData('00', `09${element}8242`, '44');
    t.equal(deliver(pdu).userData.concatenation, undefined, element);
    t.equal(textOf(pdu), 'AB');
  }
});

t.test('every group of data coding schemes is read as 3GPP TS 23.038 §4 says', async (t) => {
  const gsm7 = '02C834';
  const ucs2 = '0200C8';
  for (const dcs of ['00', '10', '13', '40', '0C', '80', 'B0', 'C0', 'D8', 'F0', 'F3']) {
    t.equal(textOf(withData(dcs, gsm7)), 'Hi', dcs);
  }
  for (const dcs of ['08', '18', '48', 'E0', 'E8']) t.equal(textOf(withData(dcs, ucs2)), 'È', dcs);
  for (const dcs of ['04', '15', '44', 'F4', 'F7'])
    t.equal(textOf(withData(dcs, '020102')), 'octets 0102', dcs);
  t.equal(textOf(withData('04', '024869')), 'Hi', 'plain text as octets');
  t.throws(() => deliver(withData('20', gsm7)), TpduError, 'compressed');
});

t.test('octets for a port are no text, whatever they look like', async (t) => {
  const { content, port } = deliver(withData('04', '090605040B8423F04869', '44')).userData;
  t.equal(port, 2948, 'WAP push');
  t.equal(content.kind, 'octets');
});

t.test('Turkish tables: locking, single, and identifiers of no language', async (t) => {
  // Septets 0x1C 0x40 0x0B: Şİ Ğ of the locking table (3GPP TS 23.038 A.3.1).
  t.equal(textOf(withData('00', `0803250101${septetData([0x1c, 0x40, 0x0b], 4)}`, '44')), 'ŞİĞ');
  // Escape and "g", "S" of the single shift table (A.2.1).
  t.equal(textOf(withData('00', `0903240101${septetData([0x1b, 0x67, 0x1b, 0x53], 4)}`, '44')), 'ğŞ');
  // Identifiers of no language are to be ignored (3GPP TS 23.040 §9.2.3.24.15 and .16).
  for (const header of ['03250102', '0325010e', '032401ff']) {
    t.equal(textOf(withData('00', `08${header}${septetData([1, 2, 3], 4)}`, '44')), '£$¥', header);
  }
});

t.test('time stamps: zones of both signs, and invalid ones are null', async (t) => {
  const at = (stamp: string) => deliver(`${SMSC}040B915155000010F20000${stamp}02C834`).sentAt;
  t.equal(at('52112111000000'), '2025-11-12T11:00:00+00:00');
  t.equal(at('62111280030502'), '2026-11-21T08:30:50+05:00');
  t.equal(at('6211128003050A'), '2026-11-21T08:30:50-05:00');
  t.equal(at('62111280030522'), '2026-11-21T08:30:50+05:30');
  for (const stamp of [
    '00000000000000',
    'FFFFFFFFFFFFFF',
    '62200380030502',
    '62111242030502',
    '621112800305F9',
  ]) {
    t.equal(at(stamp), null, stamp);
  }
});

t.test('SMS-STATUS-REPORT', async (t) => {
  const report = (reference: string, status: string): StatusReport =>
    decodeReceived(
      `${SMSC}06${reference}0B915155000010F25211211100000052112111000000${status}`,
    ) as StatusReport;
  t.same(report('07', '00'), {
    kind: 'statusReport',
    messageReference: 7,
    recipient: '+15550000012',
    acceptedAt: '2025-11-12T11:00:00+00:00',
    dischargedAt: '2025-11-12T11:00:00+00:00',
    status: 0,
  });
  t.equal(report('08', '46').status, 0x46);
  t.equal(report('09', '30').status, 0x30);
});

t.test('a TPDU that is cut, odd or of another type is a TpduError that says where', async (t) => {
  const whole = `${SMSC}040B915155000010F200005211211100000002C834`;
  for (let length = 0; length < whole.length; length += 1) {
    t.throws(() => decodeReceived(whole.slice(0, length)), TpduError, `${length} digits`);
  }
  t.throws(() => decodeReceived(`${SMSC}110`), TpduError);
  t.throws(() => decodeReceived('0011000B915155001032F4000800020416'), TpduError, 'an SMS-SUBMIT');
  t.throws(() => decodeReceived('xyz'), TpduError);
  t.throws(
    () => deliver(withData('00', '0AFF00000000000000'.padEnd(20, '0'), '44')),
    TpduError,
    'header too long',
  );
});

/** Packs septets by hand, bit by bit, behind a header of that many octets. */
function septetData(septets: number[], headerOctets: number): string {
  const fill = (7 - ((headerOctets * 8) % 7)) % 7;
  const bits =
    '0'.repeat(fill) + septets.map((s) => [...s.toString(2).padStart(7, '0')].reverse().join('')).join('');
  const octets = bits.match(/.{1,8}/g) ?? [];
  return octets
    .map((b) => Number.parseInt([...b.padEnd(8, '0')].reverse().join(''), 2))
    .map((octet) => octet.toString(16).padStart(2, '0'))
    .join('');
}

t.test('message classes and waiting indications, in the coding, the header and the address', async (t) => {
  const classOf = (dcs: string): unknown => deliver(withData(dcs, '00')).messageClass;
  // 3GPP TS 23.038 §4: general data coding with class, and "data coding/message class".
  t.same(['10', '11', '12', '13', '50', '18', 'F0', 'F3'].map(classOf), [0, 1, 2, 3, 0, 0, 0, 3]);
  t.same(['00', '08', '40', 'C8', 'E0'].map(classOf), Array(5).fill(undefined));
  const lampOf = (dcs: string): unknown => deliver(withData(dcs, '00')).indication;
  t.same(lampOf('C8'), { about: 'voicemail', isActive: true }, 'to be discarded');
  t.same(lampOf('C1'), { about: 'fax', isActive: false });
  t.same(lampOf('DA'), { about: 'email', isActive: true }, 'to be stored');
  t.same(lampOf('EB'), { about: 'other', isActive: true }, 'UCS2');
  t.equal(lampOf('00'), undefined);
  // 3GPP TS 23.040 §9.2.3.24.2: voice mail, 3 messages, and none.
  t.same(deliver(ucs2('01028003', '')).indication, { about: 'voicemail', isActive: true });
  t.same(deliver(ucs2('01020000', '')).indication, { about: 'voicemail', isActive: false });
  // CPHS 4.2 B.4.2.1: an address of four semi-octets, type "name", flags 0x11 or 0x10.
  const from = (flags: string): Deliver => deliver(`${SMSC}0404D0${flags}100000521121110000000120`);
  t.same(from('11').indication, { about: 'voicemail', isActive: true });
  t.same(from('10').indication, { about: 'voicemail', isActive: false });
  t.equal(from('C1').indication, undefined, 'a name of two letters');
});

t.test('several elements in one header, unknown ones and cut ones', async (t) => {
  const PORTS = '05040B8423F0';
  const PART = '00032A0201';
  const several = deliver(ucs2(`${PORTS}${PART}70020102`, '0041')).userData;
  t.same(several.concatenation, { reference: 42, referenceBits: 8, total: 2, part: 1 });
  t.equal(several.port, 2948);
  t.same(several.content, { kind: 'text', text: 'A' });
  const cut = deliver(ucs2(`${PART}7009`, '0041')).userData;
  t.same(
    cut.concatenation,
    { reference: 42, referenceBits: 8, total: 2, part: 1 },
    'the elements before it count',
  );
  t.same(cut.content, { kind: 'text', text: 'A' });
  const both = deliver(ucs2(`${PART}0804123403 02`.replace(' ', ''), '0041')).userData;
  t.same(
    both.concatenation,
    { reference: 0x1234, referenceBits: 16, total: 3, part: 2 },
    'the wider reference',
  );
  t.equal(deliver(ucs2('00022A02', '0041')).userData.concatenation, undefined, 'of another length');
  t.equal(deliver(ucs2('04022380', '0041')).userData.port, 0x23, 'ports of 8 bits');
});

t.test('lengths that lie', async (t) => {
  // TP-UDL announces less than there is: the rest is no text.
  t.equal(textOf(withData('00', '01C834')), 'H');
  t.equal(textOf(withData('08', '020041004200')), 'A');
  t.equal(textOf(withData('08', '0300410042')), 'A', 'half a character');
  t.throws(() => deliver(withData('00', '03C834')), TpduError, 'of more than there is');
  t.equal(textOf(withData('00', '00')), '', 'an empty message is one');
  // Semi-octets of an address: odd for a name, more than there can be, more than there are.
  t.equal(deliver(`${SMSC}0403D0C83400005211211100000002C834`).from, 'H');
  t.throws(() => deliver(`${SMSC}041591${'00'.repeat(30)}`), TpduError);
  t.throws(() => deliver(`${SMSC}040F91155500`), TpduError);
});

/** A DELIVER in UCS2 with these information elements and text, hexadecimal. */
function ucs2(elements: string, text: string): string {
  const octets = (hex: string): string => (hex.length / 2).toString(16).padStart(2, '0');
  const header = octets(elements) + elements;
  return withData('08', octets(header + text) + header + text, '44');
}
