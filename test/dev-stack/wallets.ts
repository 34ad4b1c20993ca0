// The well-known accounts of the local chain, by what they do here. Never use them anywhere else.
import { type Address, type Hex, toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';

const MNEMONIC = 'test test test test test test test test test test test junk';

export interface Wallet {
  address: Address;
  privateKey: Hex;
}

function walletAt(addressIndex: number): Wallet {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex });
  const key = account.getHdKey().privateKey;
  if (key === null) throw new Error('no key');
  return { address: account.address, privateKey: toHex(key) };
}

/** Sends settlements and pays their gas. */
export const RELAYER = walletAt(0);
/** Owns the test dollar and makes new ones. */
export const MINTER = walletAt(1);
/** Is paid. */
export const PAY_TO = walletAt(2);
/** Buyers, with dollars. */
export const BUYERS: readonly Wallet[] = [3, 4, 5, 6, 7].map(walletAt);
