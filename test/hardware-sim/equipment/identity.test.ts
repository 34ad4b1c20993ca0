// Identities are valid, distinct, and the same after every start.
import t from 'tap';
import { modemIdentityOf, simIdentityOf } from '#hardware-sim/equipment/identity.ts';

/** ISO/IEC 7812-1 annex B, written the other way round from the product: doubles from the left. */
function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[index]);
    const doubled = (digits.length - index) % 2 === 0 ? digit * 2 : digit;
    sum += Math.floor(doubled / 10) + (doubled % 10);
  }
  return sum % 10 === 0;
}

t.test('256 modems have valid and distinct identities', async (t) => {
  const all = Array.from({ length: 256 }, (_, index) => ({
    ...modemIdentityOf(index),
    ...simIdentityOf(index),
  }));
  for (const { imei, iccid, imsi, number } of all) {
    if (!/^\d{15}$/.test(imei) || !isLuhn(imei)) t.fail(`IMEI ${imei}`);
    if (!/^8901\d{15}$/.test(iccid) || !isLuhn(iccid)) t.fail(`ICCID ${iccid}`);
    if (!/^00101\d{10}$/.test(imsi)) t.fail(`IMSI ${imsi}`);
    if (!/^\+1206555\d{4}$/.test(number)) t.fail(`number ${number}`);
  }
  for (const key of ['slot', 'imei', 'iccid', 'imsi', 'number'] as const) {
    t.equal(new Set(all.map((identity) => identity[key])).size, 256, key);
  }
  t.equal(all[0]?.number, '+12065550100');
  t.equal(all[120]?.number, '+12065550220');
});
