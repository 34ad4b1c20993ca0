// Answers of operations that need no token, by the name of the documented pair.
import { privateKeyToAccount } from 'viem/accounts';
import { signers } from '#control-plane/signatures/signer-pool.ts';
import { ALICE, BOB, DAVE, EVE } from '../../../dev-stack/wallets.ts';
import { signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import { signV2, withPaymentId } from '../../../fixtures/payments/payment-headers.ts';
import { type Answer, ask, post } from './ask.ts';
import type { Provocation } from './by-code.ts';
import type { Stages } from './stages.ts';

/** More than the pool of signatures takes; each of these takes it some milliseconds. */
const ATTEMPTS = 5;
const FLOOD = 300;
const DIGESTS = 30;

const get =
  (path: string): Provocation =>
  ({ good }) =>
    ask(good.url, { method: 'GET', path });

const pay = (url: string, payment: string): Promise<Answer> =>
  post(url, '/subscribe', undefined, { 'X-PAYMENT': payment });

/** Signs with the key of a wallet, as the wallet that is said. */
async function signIn(
  { good: { url } }: Stages,
  wallet: typeof ALICE,
  as = wallet.address,
  path = '/auth',
): Promise<Answer> {
  const { nonce, message } = (await post(url, '/auth/nonce')).body as Record<string, string>;
  const signature = await privateKeyToAccount(wallet.privateKey).signMessage({ message: String(message) });
  return post(url, path, { wallet: as, nonce, signature });
}

/** Asks while as many signatures are being checked as there is room for; again where they were done first. */
async function whileFlooded(prepare: () => Promise<() => Promise<Answer>>): Promise<Answer> {
  const signature = await privateKeyToAccount(ALICE.privateKey).signMessage({ message: '' });
  const digests = Array.from({ length: DIGESTS }, () => `0x${'11'.repeat(32)}` as const);
  const job = { signer: BOB.address, digests, signature };
  for (let attempt = 1; ; attempt += 1) {
    const request = await prepare();
    const flood = Array.from({ length: FLOOD }, () => signers.isSignedBy(job));
    const settled = Promise.allSettled(flood);
    const answer = await request();
    await settled;
    if (answer.status === 503 || attempt === ATTEMPTS) return answer;
  }
}

async function whileFailing({ rpc }: Stages, method: string, request: () => Promise<Answer>) {
  rpc.interfere = (name, forward) => (name === method ? Promise.reject(new Error('lost')) : forward());
  const answer = await request();
  rpc.interfere = undefined;
  return answer;
}

const CHALLENGED: Provocation = ({ good }) => post(good.url, '/subscribe');

export const SERVICE: Record<string, Provocation> = {
  'getCatalog 200 -': get('/'),
  'getAvailability 200 -': get('/availability'),
  'getReceiptKeys 200 -': get('/.well-known/jwks.json'),
  'joinWaitlist 200 -': ({ good }) => post(good.url, '/waitlist', { email: 'someone@example.com' }),
  'joinWaitlist 400 invalid_email': ({ good }) => post(good.url, '/waitlist', { email: 'someone' }),
  'runDemo 200 -': ({ good }) => post(good.url, '/demo'),
  'subscribe 200 -': ({ good, payment }) => pay(good.url, payment),
  'subscribe 402 -': CHALLENGED,
  'subscribe 400 invalid_request': ({ good, payment }) =>
    post(good.url, '/subscribe', undefined, { 'X-PAYMENT': payment, Authorization: 'Payment e30' }),
  'subscribe 409 payment_already_used': async ({ good, payment }) => {
    await pay(good.url, payment);
    return pay(good.url, payment);
  },
  'subscribe 409 payment_identifier_reused': async ({ good: { url } }) => {
    const sign = async () => withPaymentId(await signV2(url, ALICE.privateKey), 'pay_0123456789abcdef');
    const [first, second] = [await sign(), await sign()];
    await pay(url, first);
    return pay(url, second);
  },
  'subscribe 409 paid_ahead': async ({ good }) => {
    const again = async () => pay(good.url, await signPaymentHeader(good.url, ALICE.privateKey));
    let answer = await again();
    while (answer.status === 200) answer = await again();
    return answer;
  },
  'subscribe 503 pool_exhausted': async ({ empty }) =>
    pay(empty, await signPaymentHeader(empty, DAVE.privateKey)),
  'subscribe 503 settlement_pending': async (stages) => {
    const payment = await signPaymentHeader(stages.good.url, DAVE.privateKey);
    return whileFailing(stages, 'eth_sendRawTransaction', () => pay(stages.good.url, payment));
  },
  'subscribe 503 settlement_unavailable': async (stages) => {
    const payment = await signPaymentHeader(stages.good.url, BOB.privateKey);
    return whileFailing(stages, 'eth_estimateGas', () => pay(stages.good.url, payment));
  },
  'subscribe 503 overloaded': ({ good }) =>
    whileFlooded(async () => {
      const payment = await signPaymentHeader(good.url, BOB.privateKey);
      return () => pay(good.url, payment);
    }),
  'issueNonce 200 -': ({ good }) => post(good.url, '/auth/nonce'),
  'signIn 401 signature_mismatch': (stages) => signIn(stages, BOB, ALICE.address),
  'signIn 402 no_active_subscription': (stages) => signIn(stages, EVE),
  'listWalletReceipts 200 -': (stages) => signIn(stages, ALICE, ALICE.address, '/receipts'),
  'listWalletReceipts 401 signature_mismatch': (stages) => signIn(stages, BOB, ALICE.address, '/receipts'),
  'listWalletReceipts 503 overloaded': ({ good }) =>
    whileFlooded(
      async () => () =>
        post(good.url, '/receipts', { wallet: ALICE.address, nonce: 'n', signature: `0x${'11'.repeat(65)}` }),
    ),
  // Its payment could not be sent.
  'signIn 503 settlement_pending': (stages) => signIn(stages, DAVE),
  'signIn 503 overloaded': ({ good }) =>
    whileFlooded(
      async () => () =>
        post(good.url, '/auth', { wallet: ALICE.address, nonce: 'n', signature: `0x${'11'.repeat(65)}` }),
    ),
};

/** Last, for it takes Alice’s token. */
export const REVOKING: Record<string, Provocation> = {
  'signIn 200 -': (stages) => signIn(stages, ALICE),
};
