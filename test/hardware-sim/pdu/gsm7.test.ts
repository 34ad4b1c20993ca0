// The 7 bit alphabet against 3GPP TS 23.038 and against PDUs that python3-gammu made.
import t from 'tap';
import { packSeptets, septetsByCharacter, textFromSeptets, unpackSeptets } from '#hardware-sim/pdu/gsm7.ts';

function packed(text: string): string {
  return packSeptets(septetsByCharacter(text)?.flat() ?? [])
    .toString('hex')
    .toUpperCase();
}

t.test('packs as other programs do', async (t) => {
  // User data of SUBMITs from python3-gammu; "hellohello" is the example everybody knows.
  t.equal(packed('hellohello'), 'E8329BFD4697D9EC37');
  t.equal(packed('Hello world'), 'C8329BFD06DDDF723619');
  t.equal(packed('[€] {~}'), '1BDEA6BCF18136A84D6F9302');
  t.equal(packed('1234567'), '31D98C56B3DD00');
});

t.test('has the alphabet of the standard where it differs from ASCII', async (t) => {
  const codes = [0x00, 0x01, 0x02, 0x10, 0x11, 0x1c, 0x1e, 0x24, 0x40, 0x5b, 0x5f, 0x60, 0x7b, 0x7f];
  t.equal(textFromSeptets(codes), '@£$Δ_Æß¤¡Ä§¿äà');
});

t.test('writes extension characters as two septets and reads them back', async (t) => {
  t.same(
    septetsByCharacter('^{}\\[~]|€\f')?.map((septets) => septets.length),
    Array(10).fill(2),
  );
  const text = '^{}\\[~]|€\f';
  t.equal(textFromSeptets(septetsByCharacter(text)?.flat() ?? []), text);
});

t.test('refuses characters outside the alphabet', async (t) => {
  for (const text of ['Ж', '😀', '`', '\u001b', 'ç']) t.equal(septetsByCharacter(text), undefined, text);
});

t.test('unpacks behind fill bits', async (t) => {
  // Part 2 of 2 of 161 x "A" behind a 6 octet header: one fill bit, 8 septets.
  t.equal(textFromSeptets(unpackSeptets(Buffer.from('82C16030180C0601', 'hex'), 8, 1)), 'AAAAAAAA');
});

t.test('shows an unknown extension as the default character and a lone escape as a space', async (t) => {
  t.equal(textFromSeptets([0x1b, 0x41]), 'A');
  t.equal(textFromSeptets([0x41, 0x1b]), 'A ');
});
