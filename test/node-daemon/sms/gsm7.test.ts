// The alphabet and its packing, against 3GPP TS 23.038 and known octets.
import t from 'tap';
import {
  fillBitsAfter,
  packSeptets,
  septetsOf,
  textOfSeptets,
  unpackSeptets,
} from '#node-daemon/sms/gsm7.ts';
import { GSM7_ALPHABET } from '#shared/sms/gsm7-alphabet.ts';

t.test('the alphabet has its characters where the standard has them', async (t) => {
  t.equal([...GSM7_ALPHABET].length, 128);
  for (const [char, code] of [
    ['@', 0x00],
    ['\n', 0x0a],
    ['Δ', 0x10],
    ['É', 0x1f],
    [' ', 0x20],
    ['¤', 0x24],
    ['¡', 0x40],
    ['A', 0x41],
    ['§', 0x5f],
    ['¿', 0x60],
    ['a', 0x61],
    ['à', 0x7f],
  ] as const) {
    t.equal(GSM7_ALPHABET[code], char);
  }
});

t.test('extension characters are two septets, others are not in the alphabet', async (t) => {
  t.same(septetsOf('€'), [0x1b, 0x65]);
  t.same(septetsOf('a{'), [0x61, 0x1b, 0x28]);
  t.equal(septetsOf('Ж'), undefined);
  t.equal(septetsOf('ç'), undefined, 'only the capital is in the alphabet');
  t.equal(septetsOf('\x1b'), undefined);
});

t.test('"hellohello" packs as the textbooks show', async (t) => {
  t.equal(Buffer.from(packSeptets(septetsOf('hellohello') ?? [])).toString('hex'), 'e8329bfd4697d9ec37');
});

t.test('packing with every fill and unpacking is the identity', async (t) => {
  const septets = septetsOf('The quick brown fox {jumps} over € 13 lazy dogs@') ?? [];
  for (let fill = 0; fill < 7; fill += 1) {
    t.same(unpackSeptets(packSeptets(septets, fill), septets.length, fill), septets, `fill ${fill}`);
  }
});

t.test('fill bits bring the text to a septet boundary', async (t) => {
  for (let octets = 0; octets < 20; octets += 1) t.equal((octets * 8 + fillBitsAfter(octets)) % 7, 0);
  t.equal(fillBitsAfter(6), 1);
  t.equal(fillBitsAfter(7), 0);
});

t.test('an unknown escape shows the character of the main table, one at the end a blank', async (t) => {
  t.equal(textOfSeptets([0x1b, 0x41]), 'A');
  t.equal(textOfSeptets([0x1b, 0x1b, 0x41]), ' A');
  t.equal(textOfSeptets([0x41, 0x1b]), 'A ');
});
