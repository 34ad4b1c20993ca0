// Numbers, wallets, keys and amounts as operators see them. Those of a subscriber are masked.
import { createHash } from 'node:crypto';
import { formatUnits, getAddress, isAddressEqual } from 'viem';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import { showFingerprint } from '#shared/link/enrollment.ts';

/** "+1206…0188": the area, and enough digits to recognize a known number. Short codes and names are not masked. */
export const maskedNumber = (number: string): string =>
  /^\+?\d{7,}$/.test(number)
    ? `${number.slice(0, number.startsWith('+') ? 5 : 4)}…${number.slice(-4)}`
    : number;

/** A number of the service in a list: not masked while it has no subscriber. */
export const listedNumber = (number: string, isHeld: boolean): string =>
  isHeld ? maskedNumber(number) : number;

/** Customers whom an act affects. `numbers`: the first ones. */
interface Customers {
  readonly count: number;
  readonly numbers: readonly string[];
}

/** "2 customers". */
const counted = ({ count }: Customers): string => `${count} ${count === 1 ? 'customer' : 'customers'}`;

/** "+1206…0188, +1206…0189, and 3 more". */
function shownNumbers({ count, numbers }: Customers): string {
  const more = count > numbers.length ? `, and ${count - numbers.length} more` : '';
  return `${numbers.map(maskedNumber).join(', ')}${more}`;
}

/** The effect of an act on the service of customers. */
export type CustomerEffect = 'lost' | 'paused' | 'kept' | 'served';

const EFFECTS: Readonly<Record<CustomerEffect, (customers: Customers) => string>> = {
  lost: (customers) => `${counted(customers)} ${customers.count === 1 ? 'loses' : 'lose'} service`,
  paused: (customers) => `Without service for about a minute: ${counted(customers)}`,
  kept: (customers) => `The number is kept by ${counted(customers)}`,
  served: (customers) => `It serves ${counted(customers)}`,
};

/** "1 customer loses service: +1206…0188"; undefined if it affects none. */
export const shownEffect = (effect: CustomerEffect, customers: Customers): string | undefined =>
  customers.count === 0 ? undefined : `${EFFECTS[effect](customers)}: ${shownNumbers(customers)}`;

/** Masks each E.164 number in a text. */
export const withMaskedNumbers = (text: string): string =>
  text.replace(/(?<![\w+/])\+\d{7,15}/g, maskedNumber);

/** In dollars if the token is the network's USDC, else in the token's smallest unit. */
export function shownValue({
  asset,
  chain_id,
  value,
}: {
  asset: string;
  chain_id: number;
  value: string;
}): string {
  const decimals = decimalsOf({ asset, chain_id });
  return decimals === 0 ? `${value} of ${getAddress(asset)}` : `${formatUnits(BigInt(value), decimals)} USDC`;
}

/** Digits after the point of an amount as operators see and write it: 0 for a token that is not the network's USDC. */
export function decimalsOf({ asset, chain_id }: { asset: string; chain_id: number }): number {
  const usdc = Object.entries(NETWORKS).find(([chainId]) => chainId === String(chain_id))?.[1].usdc.address;
  return usdc !== undefined && isAddressEqual(usdc, getAddress(asset)) ? 6 : 0;
}

/** "0x7099…79C8": enough to recognize a known address, not enough to find it on a chain. */
export function maskedWallet(address: string): string {
  const whole = getAddress(address);
  return `${whole.slice(0, 6)}…${whole.slice(-4)}`;
}

export const shownWallet = (address: string, isWhole: boolean): string =>
  isWhole ? getAddress(address) : maskedWallet(address);

/** The fingerprint of a node's key, for comparison by people. `publicKey`: Ed25519, 32 bytes. */
export const keyFingerprint = (publicKey: Uint8Array): string =>
  showFingerprint(createHash('sha256').update(publicKey).digest('base64'));

const CARD_WORDS: Readonly<Record<string, string>> = {
  plan_expires: 'end of the plan',
  monthly_cost: 'monthly cost',
};

/** Fields of the fleet file that a new card takes over, and what that does to the present card: "label, plan; the present one …" */
export const cardFields = (taken: readonly string[]): string =>
  `${taken.map((field) => CARD_WORDS[field] ?? field).join(', ')}; the present one costs nothing then, and its PIN is deleted`;
