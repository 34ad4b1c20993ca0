// GET and POST /receipts, and the keys that verify them.
import type { AnswerOf, BodyOf, OPERATION, QueryOf } from '#shared/api/operations.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { ReceiptSigner } from '../receipts/receipt-signer.ts';
import type { Database } from '../store/database/database.ts';
import { appendReceipts, hasUnsigned, listReceipts } from '../store/receipts/receipts.ts';
import { provenHolder, type WalletProofParts } from './wallet-proof.ts';

export interface ReceiptParts {
  db: Database;
  receipts: ReceiptSigner;
}

/** Signs what the page needs and no more: nothing is signed where texts, calls and payments are stored. */
export async function receipts(
  { db, receipts: signer }: ReceiptParts,
  { id: subscriptionId }: Pick<Subscription, 'id'>,
  { after, limit }: QueryOf<typeof OPERATION.receipts>,
): Promise<AnswerOf<typeof OPERATION.receipts>> {
  const page = { subscriptionId, after, limit };
  let listed = await listReceipts(db, page);
  let isWaiting = await hasUnsigned(db, subscriptionId);
  if (listed.length < limit && isWaiting) {
    await signer.prepare();
    await appendReceipts(db, { subscriptionId, max: limit }, (event) => signer.sign(subscriptionId, event));
    listed = await listReceipts(db, page);
    isWaiting = await hasUnsigned(db, subscriptionId);
  }
  const isFull = listed.length === limit;
  const { sequence: last = after } = listed.at(-1) ?? {};
  const [next] = isFull ? await listReceipts(db, { subscriptionId, after: last, limit: 1 }) : [];
  return { receipts: listed, has_more: next !== undefined || isWaiting };
}

/**
 * The same for the wallet that signs, also after its subscription has ended: a token does not outlive it, and the receipt of a refund comes
 * after it. Once the subscription is purged there are none. Throws the refusals of `provenHolder`.
 */
export async function receiptsOfWallet(
  parts: ReceiptParts & WalletProofParts,
  { after, limit, ...proof }: BodyOf<typeof OPERATION.walletReceipts>,
  clientNetwork: string,
): Promise<AnswerOf<typeof OPERATION.walletReceipts>> {
  const { subscription } = await provenHolder(parts, proof, clientNetwork);
  return subscription === undefined
    ? { receipts: [], has_more: false }
    : receipts(parts, subscription, { after, limit });
}
