// POST /subscribe: the forms of one signature. The x402 client signs; forms are changed as EIP-2 and EIP-2098 write them.
import t from 'tap';
import { ALICE, BOB, type Wallet } from '../../../dev-stack/wallets.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import { createRig } from '../../../fixtures/service/rig.ts';

const rig = await createRig();
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

interface Signed {
  r: string;
  s: bigint;
  parity: 0 | 1;
}

const hex = (value: bigint | number, bytes: number): string => value.toString(16).padStart(bytes * 2, '0');
const compact = ({ r, s, parity }: Signed): string => r + hex(s | (BigInt(parity) << 255n), 32);
const full = ({ r, s }: Signed, v: number): string => r + hex(s, 32) + hex(v, 1);

function reformed(header: string, form: (signed: Signed) => string): string {
  const payment = JSON.parse(Buffer.from(header, 'base64').toString());
  const digits: string = payment.payload.signature.slice(2);
  const v = Number.parseInt(digits.slice(128), 16);
  const signed: Signed = {
    r: digits.slice(0, 64),
    s: BigInt(`0x${digits.slice(64, 128)}`),
    parity: v === 28 ? 1 : 0,
  };
  payment.payload.signature = `0x${form(signed)}`;
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}

t.test('v of 0 or 1, and EIP-2098, pay like the form that the token takes', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url);
  const pay = async (wallet: Wallet, form: (signed: Signed) => string): Promise<number> => {
    const header = reformed(await signPaymentHeader(url, wallet.privateKey), form);
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
    return response.status;
  };
  const before = await rig.chain.dollar.balanceOf(ALICE.address);
  t.equal(await pay(ALICE, (signed) => full(signed, signed.parity)), 200, 'v 0 or 1');
  t.equal(await pay(ALICE, compact), 200, 'EIP-2098');
  t.equal(before - (await rig.chain.dollar.balanceOf(ALICE.address)), 2n * PRICE);
});

t.test('one signature in two forms is one payment', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url);
  const header = await signPaymentHeader(url, BOB.privateKey);
  const forms = [
    header,
    reformed(header, compact),
    reformed(header, (signed) => full(signed, signed.parity)),
  ];
  const before = await rig.chain.dollar.balanceOf(BOB.address);
  const statuses: number[] = [];
  for (const form of forms) {
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': form } });
    statuses.push(response.status);
  }
  t.same(statuses, [200, 409, 409]);
  t.equal(before - (await rig.chain.dollar.balanceOf(BOB.address)), PRICE);
});

t.test('a high s, another v, the other parity and another length are 402 invalid_signature', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url);
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const before = await rig.chain.dollar.balanceOf(ALICE.address);
  const forms: Record<string, (signed: Signed) => string> = {
    'high s': (signed) => full({ ...signed, s: ORDER - signed.s }, 28 - signed.parity),
    'high s, v 0 or 1': (signed) => full({ ...signed, s: ORDER - signed.s }, 1 - signed.parity),
    'v 26': (signed) => full(signed, 26),
    'v 29': (signed) => full(signed, 29),
    'v 37': (signed) => full(signed, 37),
    'the other parity': (signed) => full(signed, 28 - signed.parity),
    'EIP-2098 with the other parity': (signed) => compact({ ...signed, parity: signed.parity === 0 ? 1 : 0 }),
    '63 bytes': (signed) => compact(signed).slice(2),
    '66 bytes': (signed) => `${full(signed, 27)}00`,
    nothing: () => '',
  };
  for (const [name, form] of Object.entries(forms)) {
    const headers = { 'X-PAYMENT': reformed(header, form) };
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers });
    t.equal(response.status, 402, name);
    t.match(await response.json(), { error: 'invalid_signature' }, name);
  }
  t.equal(await rig.chain.dollar.balanceOf(ALICE.address), before);
});
