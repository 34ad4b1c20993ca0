// A wallet address masked for operators.
import { getAddress } from 'viem';

/** "0x7099…79C8": enough to recognize a known address, not enough to find it on a chain. */
export function maskedWallet(address: string): string {
  const whole = getAddress(address);
  return `${whole.slice(0, 6)}…${whole.slice(-4)}`;
}

export const shownWallet = (address: string, isWhole: boolean): string =>
  isWhole ? getAddress(address) : maskedWallet(address);
