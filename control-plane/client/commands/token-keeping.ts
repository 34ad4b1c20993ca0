// Stores a new token of a wallet.
import type { LocalAccount } from 'viem/accounts';
import type { Session } from './session.ts';

export interface SignedIn {
  token: string;
  number: string;
  expires_at: string;
}

export function keepToken(session: Session, { address }: LocalAccount, { token, number }: SignedIn): void {
  const { store, output, baseUrl, isDefaultWallet } = session;
  const aside = store.save({ base_url: baseUrl, wallet: address, token, number }, isDefaultWallet);
  if (aside !== undefined) output.note(`the token of the previous wallet is in ${aside}: --token-file`);
  output.note(`the token is in ${store.fileOf(address)}`);
}
