// SUBMITs that python3-gammu encoded, read by our decoder; and everything that a network refuses.
import t from 'tap';
import { addressToText, tpduOfLinePdu } from '#hardware-sim/pdu/address.ts';
import { PduError } from '#hardware-sim/pdu/octets.ts';
import { decodeSubmit, withDestination } from '#hardware-sim/pdu/submit.ts';
import { concatenationOf, textOf } from '#hardware-sim/pdu/user-data.ts';

/** python3-gammu writes an empty service center as 0181. */
const GOLDEN: [name: string, pdu: string, text: string, concatenation?: object][] = [
  ['plain text', '018111000B915155001032F40000000BC8329BFD06DDDF723619', 'Hello world'],
  ['extension table', '018111000B915155001032F40000000D1BDEA6BCF18136A84D6F9302', '[€] {~}'],
  ['UCS-2', '018111000B915155001032F4000800020416', 'Ж'],
  ['emoji', '018111000B915155001032F4000800060061D83DDE00', 'a😀'],
  [
    '8 bit reference',
    '018151000B915155001032F40000000F05000342020282C16030180C0601',
    'AAAAAAAA',
    { reference: 0x42, referenceBits: 8, total: 2, part: 2 },
  ],
  [
    '16 bit reference',
    '018151000B915155001032F4000000110608040242020242A15028140A8542',
    'BBBBBBBBB',
    { reference: 0x0242, referenceBits: 16, total: 2, part: 2 },
  ],
  ['class 0', '018111000B915155001032F400F00002C834', 'Hi'],
];

for (const [name, pdu, text, concatenation] of GOLDEN) {
  t.test(`reads ${name}`, async (t) => {
    const submit = decodeSubmit(tpduOfLinePdu(pdu));
    t.equal(addressToText(submit.destination), '+15550001234');
    t.equal(textOf(submit.userData), text);
    t.same(concatenationOf(submit.userData), concatenation);
    t.equal(submit.wantsStatusReport, false);
  });
}

/** Each differs from a good PDU in the one thing that its name says. */
const BROKEN: [name: string, tpdu: string, complaint: RegExp][] = [
  ['nothing', '', /first octet is cut off/],
  ['a DELIVER', '10000B915155001032F40000000BC8329BFD06DDDF723619', /not SMS-SUBMIT/],
  ['an empty address', '110000910000AA02C834', /address is empty/],
  ['an address of 21 digits', '110015915155001032515500103251F10000AA02C834', /longer than 20 digits/],
  ['a type of address without bit 7', '11000B115155001032F40000AA02C834', /no bit 7/],
  ['a filler among the digits', '11000B9151F5001032F40000AA02C834', /filler among/],
  ['an odd address without filler', '11000B915155001032040000AA02C834', /no filler/],
  ['a cut off address', '11000B915155', /address is cut off/],
  ['a cut off validity period', '11000B915155001032F40000', /validity period is cut off/],
  ['more septets than octets', '11000B915155001032F40000AA0FC8329BFD06DDDF723619', /does not agree/],
  ['fewer septets than octets', '11000B915155001032F40000AA04C8329BFD06DDDF723619', /does not agree/],
  ['161 septets', `11000B915155001032F40000AAA1${'00'.repeat(141)}`, /longer than a short message/],
  ['141 octets of UCS-2', `11000B915155001032F40008AA8D${'00'.repeat(141)}`, /longer than a short message/],
  ['a header longer than the data', '51000B915155001032F40000AA0420000342', /header is longer/],
  ['a cut off element', '51000B915155001032F40000AA0F05000942020282C16030180C0601', /element is cut off/],
];

for (const [name, tpdu, complaint] of BROKEN) {
  t.test(`refuses ${name}`, async (t) => {
    t.throws(() => decodeSubmit(Buffer.from(tpdu, 'hex')), { name: 'PduError', message: complaint });
  });
}

t.test('broken octets make it throw nothing but PduError', async (t) => {
  // A fixed seed: a failure can be repeated.
  let seed = 20_040;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  let accepted = 0;
  for (let round = 0; round < 20_000; round++) {
    const pdu = Buffer.from(GOLDEN[round % GOLDEN.length]?.[1].slice(4) ?? '', 'hex');
    for (let flips = random(4); flips >= 0; flips--) pdu[random(pdu.length)] = random(256);
    try {
      textOf(decodeSubmit(pdu.subarray(0, pdu.length - (random(3) === 0 ? random(pdu.length) : 0))).userData);
      accepted += 1;
    } catch (error) {
      if (!(error instanceof PduError)) throw error;
    }
  }
  t.ok(accepted > 0 && accepted < 20_000, `${accepted} accepted`);
});

t.test('readdresses without touching the rest', async (t) => {
  const tpdu = tpduOfLinePdu('018111000B915155001032F40000000BC8329BFD06DDDF723619');
  const changed = decodeSubmit(withDestination(tpdu, '12345'));
  t.same(changed.destination, { typeOfAddress: 0x81, value: '12345' });
  t.equal(textOf(changed.userData), 'Hello world');
});
