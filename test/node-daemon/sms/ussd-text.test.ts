// Texts of USSD answers, in the forms in which modems of the field give them.
import t from 'tap';
import { packedCode, ussdCodingOf, ussdText } from '#node-daemon/sms/ussd-text.ts';

t.test('the data coding scheme says how the text is to be read', async (t) => {
  for (const dcs of [0x00, 0x0f, 0x10, 0x40, 0x90, 0xf0])
    t.equal(ussdCodingOf(dcs), 'gsm7', dcs.toString(16));
  for (const dcs of [0x11, 0x48, 0x58, 0x98]) t.equal(ussdCodingOf(dcs), 'ucs2', dcs.toString(16));
  for (const dcs of [0x44, 0xf4]) t.equal(ussdCodingOf(dcs), 'octets', dcs.toString(16));
});

t.test('UCS2 is hexadecimal, with a language before it where the scheme says so', async (t) => {
  t.equal(ussdText('04110430043B0430043D0441', 72, 'GSM'), 'Баланс');
  t.equal(ussdText('656E04110430', 0x11, 'GSM'), 'Ба');
  t.equal(ussdText('00480069', 15, 'UCS2'), 'Hi');
  t.equal(ussdText('D83DDCA1', 72, 'IRA'), '💡');
});

t.test('text of the 7 bit alphabet is characters, or packed', async (t) => {
  t.equal(ussdText('Balance: 5', 15, 'IRA'), 'Balance: 5');
  t.equal(ussdText('Balance: \u00025', 15, 'GSM'), 'Balance: $5');
  t.equal(ussdText('D9775D0E12D3D16C', 15, 'GSM'), ussdText('D9775D0E12D3D16C', 15, 'IRA'));
  t.equal(ussdText('AA180C3602', 15, 'GSM'), '*100#');
  t.equal(ussdText('1234', 15, 'GSM'), '1234', 'a number is a number');
  t.equal(ussdText('', 15, 'GSM'), '');
});

t.test('codes are packed as Huawei wants them', async (t) => {
  t.equal(packedCode('*100#'), 'AA180C3602');
  // Seven characters: the last octet would end in a character of zeros, which is "@".
  t.equal(ussdText(packedCode('*1000#1'), 15, 'GSM'), '*1000#1');
  t.throws(() => packedCode('💡'), RangeError);
});
