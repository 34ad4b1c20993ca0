// How a long text is cut: sizes from 3GPP TS 23.040 §9.2.3.24.1 and 23.038, and what must never be split.
import t from 'tap';
import { PduError } from '#hardware-sim/pdu/octets.ts';
import { segmentsOf } from '#hardware-sim/pdu/segments.ts';
import { concatenationOf, textOf } from '#hardware-sim/pdu/user-data.ts';

function texts(text: string, options: { referenceBits?: 8 | 16; encoding?: 'gsm7' | 'ucs2' } = {}): string[] {
  const segments = segmentsOf(text, { referenceBits: 8, reference: 7, ...options });
  segments.forEach((segment, index) => {
    const concatenation = concatenationOf(segment);
    if (segments.length === 1) t.equal(concatenation, undefined);
    else t.match(concatenation, { reference: 7, total: segments.length, part: index + 1 });
    t.ok(segment.octets.length <= 140);
  });
  return segments.map((segment) => textOf(segment) ?? '');
}

const SIZES: [what: string, unit: string, options: object, single: number, part: number][] = [
  ['7 bit, 8 bit reference', 'A', {}, 160, 153],
  ['7 bit, 16 bit reference', 'A', { referenceBits: 16 }, 160, 152],
  ['UCS-2, 8 bit reference', 'Ж', {}, 70, 67],
  ['UCS-2, 16 bit reference', 'Ж', { referenceBits: 16 }, 70, 66],
  ['7 bit text sent as UCS-2', 'A', { encoding: 'ucs2' }, 70, 67],
];

for (const [what, unit, options, single, part] of SIZES) {
  t.test(`${what}: ${single} in one, ${part} in a part`, async (t) => {
    t.same(texts(unit.repeat(single), options), [unit.repeat(single)]);
    t.same(texts(unit.repeat(single + 1), options), [unit.repeat(part), unit.repeat(single + 1 - part)]);
    t.same(texts(unit.repeat(2 * part), options), [unit.repeat(part), unit.repeat(part)]);
  });
}

t.test('never splits an escape pair', async (t) => {
  t.same(texts(`${'A'.repeat(152)}€${'B'.repeat(20)}`), ['A'.repeat(152), `€${'B'.repeat(20)}`]);
});

t.test('never splits a surrogate pair', async (t) => {
  t.same(texts(`${'Ж'.repeat(66)}😀${'Ж'.repeat(20)}`), ['Ж'.repeat(66), `😀${'Ж'.repeat(20)}`]);
});

t.test('refuses more than 255 segments and an encoding that cannot hold the text', async (t) => {
  t.equal(texts('A'.repeat(255 * 153)).length, 255);
  t.throws(() => texts('A'.repeat(255 * 153 + 1)), PduError);
  t.throws(() => texts('Ж', { encoding: 'gsm7' }), PduError);
});
