// Announcements of MMS, as carriers sent them: recorded PDUs that other programs are tested with.
import fc from 'fast-check';
import t from 'tap';
import { decodeMmsNotification, WAP_PUSH_PORT } from '#node-daemon/sms/mms-notification.ts';
import { decodeReceived } from '#node-daemon/sms/tpdu.ts';
import { TpduError } from '#node-daemon/sms/tpdu-error.ts';
import { PUSH_PARTS, PUSH_WITHOUT_END } from '../../fixtures/nodes/mms-pushes.ts';

function octetsOf(pdu: string): Uint8Array {
  const received = decodeReceived(pdu);
  if (received.kind !== 'deliver' || received.userData.content.kind !== 'octets') throw new Error('no push');
  if (received.userData.port !== WAP_PUSH_PORT) throw new Error(`for port ${received.userData.port}`);
  return received.userData.content.octets;
}

function isRefused(octets: Uint8Array): boolean {
  try {
    decodeMmsNotification(octets);
    return false;
  } catch (error) {
    return error instanceof TpduError;
  }
}

const WHOLE = Buffer.concat(PUSH_PARTS.map(octetsOf));
const NOTIFICATION = {
  transactionId: 'NOK5CiKcoTMYSG4MBSwAAsKv14FUHAAAAAAAA',
  from: '+447785342749',
  sizeBytes: 29_696,
  expiry: { kind: 'delta', seconds: 72_000 },
};

t.test('a push of two parts', async (t) => {
  t.same(decodeMmsNotification(WHOLE), NOTIFICATION);
  const begin = octetsOf(PUSH_PARTS[0]);
  t.ok(isRefused(begin), 'a whole one must have its end');
  t.same(decodeMmsNotification(begin, { isPartial: true }), NOTIFICATION, 'all before it is known');
});

t.test(
  'the first part of a push of another carrier, with a length and an application in its headers',
  async (t) => {
    t.same(decodeMmsNotification(octetsOf(PUSH_WITHOUT_END), { isPartial: true }), {
      transactionId: 'RNE9U0Jmq5QAABflAAAAMwAAB6QAAAAA',
      from: '+15122977683',
      sizeBytes: 11_153,
      expiry: { kind: 'delta', seconds: 431_999 },
    });
  },
);

/** A push with this media type and these fields. */
const push = (media: number[], ...fields: number[][]): Uint8Array =>
  Uint8Array.from([1, 6, media.length, ...media, ...fields.flat()]);
const ascii = (text: string): number[] => [...Buffer.from(text), 0];
const TYPE = [0x8c, 0x82];
const TRANSACTION = [0x98, ...ascii('t1')];

t.test('other forms of the same fields (OMA-TS-MMS_ENC §7.3, WSP §8.4.2)', async (t) => {
  const decoded = (...fields: number[][]) =>
    decodeMmsNotification(push([0xbe], TYPE, TRANSACTION, ...fields));
  t.equal(decoded([0x89, 1, 0x81]).from, null, 'withheld');
  t.equal(decoded([0x89, 8, 0x80, 6, 0xea, ...Buffer.from('é@b'), 0]).from, 'é@b', 'with a character set');
  t.same(decoded([0x88, 6, 0x80, 4, 0x6a, 0xb7, 0x4d, 0x90]).expiry, { kind: 'at', seconds: 0x6ab74d90 });
  t.same(decoded([0x88, 2, 0x81, 0x80 | 60]).expiry, { kind: 'delta', seconds: 60 }, 'a short integer');
  t.equal(decoded(ascii('X-Own'), ascii('value'), [0x8e, 1, 7]).sizeBytes, 7, 'a field with a name');
  t.equal(decoded([0x96, 31, 4, 0xea, 0xc3, 0xa9, 0], [0x8e, 1, 7]).sizeBytes, 7, 'a quoted length');
  const media = [...ascii('Application/vnd.wap.mms-message')];
  t.equal(
    decodeMmsNotification(push([31, media.length + 2, ...media, 0x81, 0xea], TYPE, TRANSACTION)).from,
    null,
  );
});

t.test('octets that are not an MMS notification are refused', async (t) => {
  const refused = (octets: Uint8Array): boolean => t.ok(isRefused(octets));
  refused(push([0xae], TYPE, TRANSACTION)); // Service indication.
  refused(push([0xbe], [0x8c, 0x84], TRANSACTION)); // M-Retrieve.conf.
  refused(push([0xbe], TYPE)); // No transaction.
  refused(push([0xbe], TYPE, [0x98, ...ascii('x'.repeat(200))]));
  refused(push([0xbe], TRANSACTION));
  refused(Uint8Array.of(1, 4, 1, 0xbe));
  refused(Uint8Array.of());
  refused(Uint8Array.of(1, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff));
});

t.test('random octets cause no error but TpduError', async (t) => {
  const places = fc.array(fc.tuple(fc.nat(WHOLE.length - 1), fc.nat(255)), { maxLength: 6 });
  const damaged = fc.tuple(places, fc.nat(WHOLE.length)).map(([changes, end]) => {
    const octets = Uint8Array.from(WHOLE);
    for (const [place, octet] of changes) octets[place] = octet;
    return octets.subarray(0, end);
  });
  const octets = fc.oneof(damaged, fc.uint8Array({ maxLength: 200 }));
  let decoded = 0;
  fc.assert(
    fc.property(octets, fc.boolean(), (input, isPartial) => {
      try {
        const { from, transactionId } = decodeMmsNotification(input, { isPartial });
        decoded += 1;
        return !/\p{Control}/u.test(`${from}${transactionId}`) && transactionId !== '';
      } catch (error) {
        return error instanceof TpduError;
      }
    }),
    { numRuns: 20_000 },
  );
  t.ok(decoded > 500, `${decoded} decoded`);
});
