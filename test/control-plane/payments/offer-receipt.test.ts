// The package of x402 verifies the signed offers of a 402 and the signed receipt of a payment, by the DID document of the service.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB } from '../../dev-stack/wallets.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { requireTool } from '../../fixtures/tools.ts';

const rig = await createRig();

interface Signed {
  format: string;
  signature: string;
}
interface Decoded {
  network: string;
  validUntil: number;
  signedOffer: Signed;
}
interface Required {
  accepts: object[];
  extensions: Record<string, unknown>;
}
const x402 = requireTool('@x402/extensions/offer-receipt') as {
  extractOffersFromPaymentRequired(required: Required): Signed[];
  decodeSignedOffers(offers: Signed[]): Decoded[];
  findAcceptsObjectFromSignedOffer(offer: Decoded, accepts: object[]): object | undefined;
  verifyOfferSignatureJWS(offer: Signed): Promise<object>;
  extractReceiptFromResponse(response: Response): Signed | undefined;
  verifyReceiptSignatureJWS(receipt: Signed): Promise<object>;
  verifyReceiptMatchesOffer(receipt: Signed, offer: Decoded, payers: string[]): boolean;
};

async function challenge(url: string): Promise<{ required: Required; characters: number }> {
  const response = await fetch(`${url}/subscribe`, { method: 'POST' });
  const header = response.headers.get('payment-required') ?? '';
  const required = JSON.parse(Buffer.from(header, 'base64').toString()) as Required;
  return { required, characters: header.length };
}

function payWithV2(url: string, { privateKey }: typeof ALICE): Promise<Response> {
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: privateKeyToAccount(privateKey) });
  client.setSpendControls(false);
  return wrapFetchWithPayment(fetch, client)(`${url}/subscribe`, { method: 'POST' });
}

t.test('every offer is signed for its entry, and the receipt for the payment', async (t) => {
  const { url } = await rig.start(t);
  await rig.connect(t, url, { slots: [slotAt(0)] });
  const { required, characters } = await challenge(url);
  t.ok(characters < 6_000, `${characters} characters`);
  const offers = x402.extractOffersFromPaymentRequired(required);
  t.equal(offers.length, required.accepts.length);
  const decoded = x402.decodeSignedOffers(offers);
  for (const [index, offer] of decoded.entries()) {
    t.equal(x402.findAcceptsObjectFromSignedOffer(offer, required.accepts), required.accepts[index]);
    t.match(await x402.verifyOfferSignatureJWS(offer.signedOffer), { resourceUrl: `${url}/subscribe` });
    const seconds = offer.validUntil - Date.now() / 1000;
    t.ok(seconds > 299 && seconds <= 600, `valid for ${seconds} s`);
  }

  const response = await payWithV2(url, ALICE);
  t.equal(response.status, 200);
  const receipt = x402.extractReceiptFromResponse(response);
  const [offer] = decoded;
  if (receipt === undefined || offer === undefined) throw new Error('no receipt');
  t.match(await x402.verifyReceiptSignatureJWS(receipt), { payer: ALICE.address, transaction: /^0x/ });
  t.equal(x402.verifyReceiptMatchesOffer(receipt, offer, [ALICE.address]), true);
  t.equal(x402.verifyReceiptMatchesOffer(receipt, offer, [BOB.address]), false);

  const [head = '', body = '', signature = ''] = receipt.signature.split('.');
  const forged = Buffer.from(body, 'base64url').toString().replace(ALICE.address, BOB.address);
  const other = [head, Buffer.from(forged).toString('base64url'), signature].join('.');
  await t.rejects(x402.verifyReceiptSignatureJWS({ ...receipt, signature: other }));
});

t.test(
  'a price costs no signature of its own',
  { skip: ofOneInstance('each instance has its own key here') },
  async (t) => {
    const clock = new ManualClock();
    const { url } = await rig.start(t, { clock });
    const asked = await Promise.all(Array.from({ length: 20 }, () => challenge(url)));
    const signatures = new Set(
      asked.flatMap(({ required }) =>
        x402.extractOffersFromPaymentRequired(required).map((o) => o.signature),
      ),
    );
    t.equal(signatures.size, asked[0]?.required.accepts.length);
    clock.advance(300_000);
    const [later] = x402.extractOffersFromPaymentRequired((await challenge(url)).required);
    t.notOk(signatures.has(String(later?.signature)), 'signed again for the next five minutes');
  },
);

t.test('without its key the service sells all the same', async (t) => {
  const file = join(temporaryFolder(t), 'receipt.key');
  writeFileSync(file, 'no key', { mode: 0o600 });
  const { url } = await rig.start(t, { receiptKeyFile: file });
  await rig.connect(t, url, { slots: [slotAt(0), slotAt(1)] });
  const { required } = await challenge(url);
  t.notOk('offer-receipt' in required.extensions);
  t.ok('bazaar' in required.extensions);
  t.match(await buyNumber(url, ALICE.privateKey), { renewed: false });
  const response = await payWithV2(url, BOB);
  t.equal(response.status, 200);
  t.equal(x402.extractReceiptFromResponse(response), undefined);
});
