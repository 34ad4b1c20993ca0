// A wallet as an operator is shown it.
import { getAddress } from 'viem';

/** "0x7099…79C8": enough to compare with one that is known, not enough to look it up. */
export function maskedWallet(address: string): string {
  const whole = getAddress(address);
  return `${whole.slice(0, 6)}…${whole.slice(-4)}`;
}

export const shownWallet = (address: string, isWhole: boolean): string =>
  isWhole ? getAddress(address) : maskedWallet(address);
