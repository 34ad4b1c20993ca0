// The proof of a wallet: its signature over a single-use nonce. That needs no chain and no gas, except for a wallet with code.
import { randomBytes } from 'node:crypto';
import { type Address, getAddress, type Hex, hashMessage } from 'viem';
import type { AnswerOf, BodyOf, OPERATION } from '#shared/api/operations.ts';
import type { Base } from '../bus/base.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Admission } from '../payments/admission.ts';
import { type AccountSignatures, signatureBytes } from '../payments/chain/account-signature.ts';
import { canonicalSignature } from '../signatures/signature-form.ts';
import { signers } from '../signatures/signer-pool.ts';
import type { Database } from '../store/database/database.ts';
import { consumeNonce, insertNonce } from '../store/money/credentials.ts';
import { payingAccountChain } from '../store/money/payers.ts';
import { findSubscriptionByWallet } from '../store/money/subscriptions.ts';

export interface WalletProofParts extends Pick<Base, 'db' | 'clock'> {
  serviceDomain: string;
  /** The accounts of a chain on which the service takes payments, and the turns of sign-ins to their code. */
  accountsToSignIn(
    chainId: number,
  ): { chain: { accounts: AccountSignatures }; signIns: Admission } | undefined;
}

export async function issueNonce({
  db,
  clock,
  serviceDomain,
}: WalletProofParts): Promise<AnswerOf<typeof OPERATION.nonce>> {
  const nonce = mintNonce();
  await insertNonce(db, nonce, new Date(clock.now() + NONCE_LIFETIME_SECONDS * 1000));
  return { nonce, expires_in: NONCE_LIFETIME_SECONDS, message: signInText(serviceDomain, nonce) };
}

/**
 * The wallet that signed, and its subscription, if it has one. Any attempt with a readable request consumes the nonce. `clientNetwork`: of the
 * client's address. Throws `Refusal`: `invalid_request`; `signature_mismatch`; `unavailable`; `overloaded`, which for an account's signature
 * comes after the nonce is consumed.
 */
export async function provenHolder(
  parts: WalletProofParts,
  request: BodyOf<typeof OPERATION.signIn>,
  clientNetwork: string,
): Promise<{ wallet: Address; subscription: Subscription | undefined }> {
  const { wallet, chainId } = await provenWallet(parts, request, clientNetwork);
  const subscription = await findSubscriptionByWallet(parts.db, wallet);
  // The wallet may have bought it meanwhile, on another chain or with a key.
  if (chainId !== undefined && subscription !== undefined && subscription.accountChainId !== chainId)
    throw mismatch('The subscription of this wallet was bought meanwhile. Sign again.');
  return { wallet, subscription };
}

/** `chainId`: the chain whose code accepted the signature; undefined if it is of the wallet's key. */
async function provenWallet(
  { db, clock, serviceDomain, accountsToSignIn }: WalletProofParts,
  request: BodyOf<typeof OPERATION.signIn>,
  clientNetwork: string,
): Promise<{ wallet: Address; chainId: number | undefined }> {
  const wallet = getAddress(request.wallet.toLowerCase());
  signers.checkRoom();
  if (!isOfKeySize(request.signature)) requireAccount(await accountChainOf(db, wallet));
  const isFresh = await consumeNonce(db, request.nonce, new Date(clock.now()));
  if (!isFresh) throw mismatch('The nonce is unknown, used or expired.');
  const digests = signInDigests(serviceDomain, request.nonce);
  const signature = canonicalSignature(request.signature);
  const isOfKey =
    signature !== undefined && (await signers.isSignedBy({ signer: wallet, digests, signature }));
  if (isOfKey) return { wallet, chainId: undefined };
  const chainId = await accountChainOf(db, wallet);
  const asked = { ...request, wallet, digests, clientNetwork };
  if (!(await isOfAccount(accountsToSignIn, chainId, asked)))
    throw mismatch('The signature does not match this wallet and nonce.');
  return { wallet, chainId };
}

/**
 * The chain whose code can sign for a wallet: the chain on which its subscription was bought, or is being bought. On another chain, another
 * party may control the code at this address. Undefined if only a key can sign for the wallet.
 */
async function accountChainOf(db: Database, wallet: Address): Promise<number | undefined> {
  const subscription = await findSubscriptionByWallet(db, wallet);
  return subscription === undefined ? payingAccountChain(db, wallet) : subscription.accountChainId;
}

interface AccountSignIn {
  wallet: Address;
  digests: readonly Hex[];
  signature: string;
  clientNetwork: string;
}

/**
 * Whether the code of the wallet's account accepts the signature (EIP-1271, ERC-6492). Customers take turns, and the clients that sign in as
 * one customer take turns for it: anyone can name any customer's wallet.
 */
async function isOfAccount(
  accountsToSignIn: WalletProofParts['accountsToSignIn'],
  chainId: number | undefined,
  { wallet, digests, signature: text, clientNetwork }: AccountSignIn,
): Promise<boolean> {
  const signature = signatureBytes(text);
  if (chainId === undefined || signature === undefined) return false;
  const found = accountsToSignIn(chainId);
  if (found === undefined) throw chainUnavailable(new Error(`chain ${chainId} is not configured`));
  const { chain, signIns } = found;
  for (const digest of digests) {
    const isAccepted = await signIns.run([wallet, clientNetwork], () =>
      chain.accounts.isAccepted(wallet, digest, signature).catch((cause: unknown) => {
        throw chainUnavailable(cause);
      }),
    );
    if (isAccepted) return true;
  }
  return false;
}

/** Signatures of keys have 65 bytes, or 64 (EIP-2098). */
const isOfKeySize = (signature: string): boolean => /^0x(?:.{128}|.{130})$/.test(signature);

/** Throws `Refusal` `invalid_request` for a wallet with a key: only code can accept signatures of other sizes. */
function requireAccount(chainId: number | undefined): void {
  if (chainId !== undefined) return;
  const message =
    'The signature must have 65 bytes, or 64 (EIP-2098): no account with code has paid from this address.';
  throw new Refusal('invalid_request', message, {
    details: { field: 'signature', expected: '65 bytes, or 64 (EIP-2098)' },
  });
}

const chainUnavailable = (cause: unknown): Refusal =>
  new Refusal('unavailable', 'The chain of this account does not respond. Try again with a new nonce.', {
    cause,
    headers: { 'Retry-After': String(CHAIN_RETRY_SECONDS) },
  });

const CHAIN_RETRY_SECONDS = 10;

const mismatch = (message: string): Refusal => new Refusal('signature_mismatch', message);

/** A nonce is valid for one attempt within this time. */
const NONCE_LIFETIME_SECONDS = 300;

/** 128 random bits, hexadecimal. */
const mintNonce = (): string => randomBytes(16).toString('hex');

/** The exact text a wallet signs. */
function signInText(serviceDomain: string, nonce: string): string {
  return `Sign in to ${serviceDomain} SMS\nNonce: ${nonce}`;
}

/**
 * Digests (EIP-191, personal_sign) of the texts that may be signed for `nonce`. Text without the space after "Nonce:" is accepted too,
 * because the service document can be read either way.
 */
function signInDigests(serviceDomain: string, nonce: string): Hex[] {
  const spaced = signInText(serviceDomain, nonce);
  return [spaced, spaced.replace('Nonce: ', 'Nonce:')].map((text) => hashMessage(text));
}
