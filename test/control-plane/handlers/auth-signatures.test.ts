// POST /auth: every form of a signature and of a wallet's address, and what each does to the nonce. Vectors of ethers 6.17.
import t, { type Test } from 'tap';
import { ALICE, BOB } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

// Alice's `Wallet.signMessage` over "Sign in to numbers.example SMS\nNonce: <nonce>", and `Signature.compactSerialized` of it.
const V27 = {
  nonce: '00000000000000000000000000000000',
  signature:
    '0xb56de77cb4e6c013550d93b11fda43096fb807633e294b0732777e4ccde1f0667c316c97fc39466d07dfe581781a51b56fd1ea79d17cb3b075de9d6a5cd381af1b',
  compact:
    '0xb56de77cb4e6c013550d93b11fda43096fb807633e294b0732777e4ccde1f0667c316c97fc39466d07dfe581781a51b56fd1ea79d17cb3b075de9d6a5cd381af',
};
const V28 = {
  nonce: '01010101010101010101010101010101',
  signature:
    '0xf55c89abf962a1297189572ceaea43f33a70a95fd98d2685ede3f7e5ba357612520a72f145e49ab6858cbad5e133bfeb374facb7f6f4f37319fe997dd9e2472d1c',
  compact:
    '0xf55c89abf962a1297189572ceaea43f33a70a95fd98d2685ede3f7e5ba357612d20a72f145e49ab6858cbad5e133bfeb374facb7f6f4f37319fe997dd9e2472d',
};
// The same without the space after "Nonce:".
const V28_UNSPACED = {
  nonce: '00000000000000000000000000000000',
  signature:
    '0x998843bf12602faec9625f5b7375e90ae749fc0f4ba3e10782fc32c552d21cad28cf480443c6c90ed495c29743b5dd6b1b849ca8f50e44d1296c5e543d1381e71c',
};
const V27_UNSPACED = {
  nonce: '02020202020202020202020202020202',
  signature:
    '0xbb64b940abcfb232b2bf5745b551ce96ee10ec94c1d4b9ea6e90f558eb24a2c308031355fc7f5dca2f5656dbc71423c627af36450f30b748420caa6a6013acab1b',
  compact:
    '0xbb64b940abcfb232b2bf5745b551ce96ee10ec94c1d4b9ea6e90f558eb24a2c308031355fc7f5dca2f5656dbc71423c627af36450f30b748420caa6a6013acab',
};

const withV = (signature: string, v: number): string =>
  signature.slice(0, 130) + v.toString(16).padStart(2, '0');
const withR = (signature: string, r: bigint): string => `0x${word(r)}${signature.slice(66)}`;
const withS = (signature: string, s: bigint): string =>
  signature.slice(0, 66) + word(s) + signature.slice(130);
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const sOf = (signature: string): bigint => BigInt(`0x${signature.slice(66, 130)}`);

interface Case {
  name: string;
  nonce: string;
  signature: string;
  wallet?: string;
}

const own = (
  vector: { nonce: string; signature: string },
  name: string,
  signature = vector.signature,
): Case => ({ name, nonce: vector.nonce, signature });

const ACCEPTED: Case[] = [
  own(V27, 'v 27'),
  own(V28, 'v 28'),
  own(V27, 'v 0 for 27', withV(V27.signature, 0)),
  own(V28, 'v 1 for 28', withV(V28.signature, 1)),
  own(V27, 'EIP-2098, even y', V27.compact),
  own(V28, 'EIP-2098, odd y', V28.compact),
  own(V27_UNSPACED, 'no space, v 27'),
  own(V28_UNSPACED, 'no space, v 28'),
  own(V28_UNSPACED, 'no space, v 1', withV(V28_UNSPACED.signature, 1)),
  own(V27_UNSPACED, 'no space, EIP-2098', V27_UNSPACED.compact),
  own(V28, 'digits in capitals', `0x${V28.signature.slice(2).toUpperCase()}`),
  { ...own(V27, 'wallet in small letters'), wallet: ALICE.address.toLowerCase() },
  { ...own(V27, 'wallet in capitals'), wallet: `0x${ALICE.address.slice(2).toUpperCase()}` },
];

/** Signatures by their size, but not of this wallet over this nonce. */
const MISMATCHED: Case[] = [
  own(V27, 'high s with the other v', withV(withS(V27.signature, ORDER - sOf(V27.signature)), 28)),
  own(V27, 'high s with the same v', withS(V27.signature, ORDER - sOf(V27.signature))),
  own(V27, 'the other parity', withV(V27.signature, 28)),
  own(V28, 'the other parity', withV(V28.signature, 0)),
  own(V28, 'EIP-2098 with the other parity', `${V28.compact.slice(0, 66)}52${V28.compact.slice(68)}`),
  ...[2, 3, 26, 29, 30, 35, 37, 255].map((v) => own(V27, `v ${v}`, withV(V27.signature, v))),
  own(V27, 'r 0', withR(V27.signature, 0n)),
  own(V27, 'r of the order', withR(V27.signature, ORDER)),
  own(V27, 'r above the order', withR(V27.signature, ORDER + BigInt(`0x${V27.signature.slice(2, 10)}`))),
  own(V27, 'r of no point', withR(V27.signature, 5n)),
  own(V27, 's 0', withS(V27.signature, 0n)),
  own(V27, 's of the order', withS(V27.signature, ORDER)),
  own(V27, 'zeros', `0x${'00'.repeat(65)}`),
  own(V27, '64 zeros', `0x${'00'.repeat(64)}`),
  own(V27, 'ones', `0x${'ff'.repeat(65)}`),
  { ...own(V27, 'another nonce'), signature: V28.signature },
  { ...own(V27, 'another wallet'), wallet: BOB.address },
];

/** Not the size of a signature, or not hexadecimal. */
const MALFORMED: Case[] = [
  own(V27, 'empty', ''),
  own(V27, 'no digits', '0x'),
  own(V27, 'no prefix', V27.signature.slice(2)),
  own(V27, 'prefix in capitals', `0X${V27.signature.slice(2)}`),
  own(V27, 'half a byte less', V27.signature.slice(0, -1)),
  own(V27, '63 bytes', V27.compact.slice(0, -2)),
  own(V27, '66 bytes', `${V27.signature}00`),
  own(V27, 'a contract wallet’s, 96 bytes', `0x${'00'.repeat(96)}`),
  own(V27, 'no hexadecimal', `${V27.signature.slice(0, -2)}1g`),
  own(V27, 'a line end', `${V27.signature}\n`),
  { ...own(V27, 'a wallet of 19 bytes'), wallet: ALICE.address.slice(0, -2) },
  { ...own(V27, 'a nonce with NUL'), nonce: `${V27.nonce}\u0000` },
];

async function setup(t: Test) {
  const { url, databaseUrl } = await rig.start(t, { serviceDomain: 'numbers.example' });
  await rig.connect(t, url);
  await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number));
  const db = await openTestDatabase(t, databaseUrl);
  const left = async (): Promise<string[]> =>
    (await db.selectFrom('nonces').select('nonce').execute()).map(({ nonce }) => nonce);
  /** The service's answer while the nonce is fresh, and whether the nonce is still there afterwards. */
  async function attempt({ wallet = ALICE.address, nonce, signature }: Case) {
    const issued = nonce.replaceAll('\u0000', '');
    await db.deleteFrom('nonces').execute();
    const expiresAt = new Date(Date.now() + 60_000);
    await db.insertInto('nonces').values({ nonce: issued, expires_at: expiresAt }).execute();
    const response = await fetch(`${url}/auth`, jsonPost({ wallet, nonce, signature }));
    const { error } = (await response.json()) as { error?: string };
    return { status: response.status, error, isLeft: (await left()).includes(issued) };
  }
  return attempt;
}

t.test('forms that wallets write are accepted, and use the nonce up', async (t) => {
  const attempt = await setup(t);
  for (const each of ACCEPTED) {
    t.same(await attempt(each), { status: 200, error: undefined, isLeft: false }, each.name);
  }
});

t.test('a signature of another wallet is 401 signature_mismatch, and uses the nonce up', async (t) => {
  const attempt = await setup(t);
  for (const each of MISMATCHED) {
    t.same(await attempt(each), { status: 401, error: 'signature_mismatch', isLeft: false }, each.name);
  }
});

t.test('a malformed signature is 400 invalid_request, and leaves the nonce', async (t) => {
  const attempt = await setup(t);
  for (const each of MALFORMED) {
    t.same(await attempt(each), { status: 400, error: 'invalid_request', isLeft: true }, each.name);
  }
});
