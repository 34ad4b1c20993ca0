// Shift tables of the national languages against values of 3GPP TS 23.038 V18 annex A, read by other people.
import t from 'tap';
import { lockingShiftTable, singleShiftTable } from '#node-daemon/sms/national-language.ts';
import { GSM7_ALPHABET, GSM7_EXTENSION } from '#shared/sms/gsm7-alphabet.ts';

/** Position and Unicode code point, hexadecimal, by language identifier. */
const LOCKING: Record<number, string> = {
  1: '04:20ac 07:0131 0b:011e 0c:011f 1c:015e 1d:015f 40:0130 60:00e7',
  3: '06:00fa 07:00ed 0c:00f4 18:20ac 1d:00e2 24:00ba 7b:00e3 7c:00f5',
  4: '03:0985 07:0989 08:098a 0f:098f 27:09a4 3e:09ab 53:09c1 55:09c3 7f:09f1',
  5: '05:0a87 06:0a88 07:0a89 15:0a95 23:0aa0 3d:0aaa 4d:0ab9 7f:0af1',
  6: '11:0911 14:0914 19:0919 3c:0929 4b:0937 5b:0949 5d:094b 5f:094d 7f:097f',
  7: '08:0c8a 09:0c8b 10:0c90 12:0c92 1e:0c9d 22:0c9f 4b:0cb7 5d:0ccb 7f:0ce3',
  8: '27:0d24 40:0d2c 42:0d2e 48:0d34 51:0d3f 55:0d43 56:0d44 7b:0d60 7f:0d79',
  9: '0b:0b0c 1e:0b1d 25:0b22 2a:0b25 41:0b2d 47:0b33 4b:0b37 60:0b56 7f:0b63',
  10: '04:0a06 07:0a09 10:0a10 1a:0a1a 25:0a22 2f:0a28 43:0a2f 51:0a3f 7f:0a74',
  11: '03:0b85 05:0b87 0f:0b8f 27:0ba4 43:0baf 48:0bb4 4c:0bb8 58:0bc6 7f:0bf9',
  12: '08:0c0a 0e:0c0e 2b:0c26 41:0c2d 44:0c30 45:0c31 55:0c43 5c:0c4a 7f:0c63',
  13: '07:062a 08:06c2 2b:0632 3c:069a 47:06a9 4f:0646 52:06bc 5f:0657 7f:0670',
};
const SINGLE: Record<number, string> = {
  1: '47:011e 49:0130 53:015e 63:00e7 67:011f 69:0131 73:015f',
  2: '09:00e7 41:00c1 49:00cd 4f:00d3 55:00da 61:00e1 69:00ed 6f:00f3',
  3: '0b:00d4 0e:00c1 0f:00e1 15:03a9 19:0398 41:00c0 49:00cd 55:00da',
  4: '1c:09e8 1f:09eb 21:09ed 25:09e0 2c:09f3 31:09f7 32:09f8 33:09f9',
  5: '03:00a5 04:00bf 06:00a4 13:00a1 1a:0965 1e:0ae8 20:0aea 21:0aeb',
  6: '01:00a3 13:00a1 1d:0967 1f:0969 22:096c 24:096e 36:0961 39:0970',
  7: '03:00a5 13:00a1 1a:0965 1e:0ce8 1f:0ce9 21:0ceb 25:0cef 2a:0cf2',
  8: '20:0d6a 25:0d6f 2b:0d73 2d:0d75 2e:0d7a 30:0d7b 32:0d7d 34:0d7f',
  9: '03:00a5 04:00bf 06:00a4 19:0964 20:0b6a 23:0b6d 25:0b6f 2c:0b71',
  10: '01:00a3 03:00a5 06:00a4 15:00a1 1e:0a68 22:0a6c 27:0a5a 2b:0a5c',
  11: '01:00a3 04:00bf 06:00a4 13:00a1 1f:0be9 25:0bef 26:0bf3 27:0bf4',
  12: '13:00a1 1c:0c66 1e:0c68 21:0c6b 22:0c6c 2b:0c79 2c:0c7a 31:0c7e',
  13: '1a:0601 1d:06f1 34:0640 35:0652 36:0658 37:066b 3b:06cd 3f:06d4',
};

function valuesIn(line: string): [number, string][] {
  return line.split(' ').map((value) => {
    const [position = '', code = ''] = value.split(':');
    return [Number.parseInt(position, 16), String.fromCodePoint(Number.parseInt(code, 16))];
  });
}

t.test('locking shift tables have 128 places and the characters of the standard', async (t) => {
  for (const [identifier, values] of Object.entries(LOCKING)) {
    const table = lockingShiftTable(Number(identifier));
    t.equal(table.length, 128, identifier);
    for (const [position, char] of valuesIn(values))
      t.equal(table.charAt(position), char, `${identifier} ${position}`);
    t.equal(table.charAt(0x0a), '\n');
    t.equal(table.charAt(0x0d), '\r');
    t.equal(table.charAt(0x1b), '\x1b');
    t.equal(table.slice(0x61, 0x7b), 'abcdefghijklmnopqrstuvwxyz', identifier);
    t.equal(table.slice(0x30, 0x3c), '0123456789:;', identifier);
  }
});

t.test(
  'single shift tables have the characters of the standard and keep those of the default one',
  async (t) => {
    for (const [identifier, values] of Object.entries(SINGLE)) {
      const table = singleShiftTable(Number(identifier));
      for (const [position, char] of valuesIn(values))
        t.equal(table.get(position), char, `${identifier} ${position}`);
      for (const [position, char] of GSM7_EXTENSION) {
        // Where the default table breaks the page.
        if (position !== 0x0a) t.equal(table.get(position), char, `${identifier} ${position}`);
      }
    }
  },
);

t.test('identifiers without a table leave the default ones', async (t) => {
  for (const identifier of [undefined, 0, 2, 14, 255]) t.equal(lockingShiftTable(identifier), GSM7_ALPHABET);
  for (const identifier of [undefined, 0, 14, 255]) t.equal(singleShiftTable(identifier), GSM7_EXTENSION);
});
