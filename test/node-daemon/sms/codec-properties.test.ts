// Rules for every text and for all octets. A text that is cut and joined is the same text. Octets decode to a text or a TpduError.
import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import t from 'tap';
import { packSeptets, septetsOf, textOfSeptets, unpackSeptets } from '#node-daemon/sms/gsm7.ts';
import { decodeReceived, encodeSubmit } from '#node-daemon/sms/tpdu.ts';
import { TpduError } from '#node-daemon/sms/tpdu-error.ts';
import { GSM7_ALPHABET, GSM7_EXTENSION } from '#shared/sms/gsm7-alphabet.ts';
import { segmentText } from '#shared/sms/segmentation.ts';

const SEED = 20_261_121;
const GSM7_CHARS = [...GSM7_ALPHABET].filter((char) => char !== '\x1b').concat([...GSM7_EXTENSION.values()]);
const gsm7Text = fc
  .array(fc.constantFrom(...GSM7_CHARS), { minLength: 1, maxLength: 400 })
  .map((chars) => chars.join(''));
const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });

function check<T>(
  name: string,
  arbitrary: fc.Arbitrary<T>,
  holds: (value: T) => boolean,
  numRuns = 2_000,
): void {
  t.test(name, async (t) => {
    fc.assert(fc.property(arbitrary, holds), { seed: SEED, numRuns });
    t.pass(`${numRuns} runs`);
  });
}

check(
  'segments joined are the text, as few as can be, and none tears a pair',
  fc.oneof(gsm7Text, anyText),
  (text) => {
    const { encoding, segments, units } = segmentText(text);
    const max = encoding === 'gsm7' ? [160, 153] : [70, 67];
    const unitsOf = (part: string): number =>
      encoding === 'gsm7' ? (septetsOf(part)?.length ?? Number.NaN) : part.length;
    const torn = segments.some((part) => /^[\udc00-\udfff]/.test(part) || /[\ud800-\udbff]$/.test(part));
    const most = segments.length === 1 ? (max[0] ?? 0) : (max[1] ?? 0);
    // A segment stays at most one unit short, where a character of two units does not fit.
    const least = Math.ceil(units / most);
    return (
      segments.join('') === text &&
      !torn &&
      segments.every((part) => unitsOf(part) <= most) &&
      segments.length <= Math.max(least, Math.ceil(units / (most - 1)))
    );
  },
);

check('septets packed with any fill come out as they were', fc.tuple(gsm7Text, fc.nat(6)), ([text, fill]) => {
  const septets = septetsOf(text) ?? [];
  const unpacked = unpackSeptets(packSeptets(septets, fill), septets.length, fill);
  return textOfSeptets(unpacked) === text;
});

check('every segment of every text is encoded', fc.oneof(gsm7Text, anyText), (text) => {
  const { encoding, segments } = segmentText(text);
  return segments.every((segment, index) => {
    const concatenation = {
      reference: 7,
      referenceBits: 8 as const,
      total: segments.length,
      part: index + 1,
    };
    const { pdu, length } = encodeSubmit({
      to: '+15550001234',
      text: segment,
      encoding,
      statusReport: true,
      validityPeriod: 167,
      ...(segments.length > 1 ? { concatenation } : {}),
    });
    // 3GPP TS 23.040 §9.2.2.2: 13 octets around an address of 11 digits, 140 of user data.
    return length === pdu.length / 2 - 1 && length <= 14 + 140;
  });
});

check(
  'any octets are decoded or a TpduError',
  fc.uint8Array({ maxLength: 180 }),
  (octets) => {
    try {
      return ['deliver', 'statusReport'].includes(decodeReceived(Buffer.from(octets).toString('hex')).kind);
    } catch (error) {
      return error instanceof TpduError;
    }
  },
  20_000,
);
