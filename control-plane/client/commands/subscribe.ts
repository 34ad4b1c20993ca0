// `simrack subscribe`: pays for a year once, however often it is killed and run again.
import type { LocalAccount } from 'viem/accounts';
import { ApiError, isApiError } from '../api-error.ts';
import type { PaymentProtocol, SignedPayment } from '../payments/sign.ts';
import type { Purchase } from '../purchase-options.ts';
import { inDollars } from './arguments.ts';
import { InterruptedError, interruptible } from './failures.ts';
import type { CommandSession } from './session.ts';

export interface SubscribeOptions {
  max: bigint;
  protocol: PaymentProtocol;
  renew?: boolean;
}

interface Subscribed extends SignedIn {
  /** `unchanged` and `recovered` cost nothing. */
  outcome: 'bought' | 'renewed' | 'recovered' | 'unchanged';
}

/** Calls `report` with the result. Throws `ApiError`, `NotPayableError`, `UsageError`, `InterruptedError`. */
export async function runSubscribe(
  session: CommandSession,
  options: SubscribeOptions,
  report: (subscribed: Subscribed) => void,
): Promise<void> {
  const account = await session.account();
  const { store } = session;
  await store.whilePaying(account.address, async () => {
    const resume = store.pending(account.address);
    const asks = resume === undefined && options.renew !== true;
    report(
      (asks ? await known(session, account) : undefined) ??
        (await payOnce(session, account, options, resume)),
    );
    // After the output: if the program is killed before, the next run prints the result and pays nothing.
    store.clearPending(account.address);
  });
}

/**
 * The present subscription of the wallet: then nothing is paid, because a user who runs the command twice wants one number. The service
 * decides, because the files may be missing or of another wallet. An expired year does not count: it is paid again.
 */
async function known(session: CommandSession, account: LocalAccount): Promise<Subscribed | undefined> {
  const { store, output } = session;
  const kept = store.read(account.address);
  try {
    if (kept !== undefined) {
      const { number, expires_at } = await session.clientOf(kept.token).number();
      output.note('this wallet has a number; use --renew to pay for another year');
      keepToken(session, account, { token: kept.token, number, expires_at });
      return { token: kept.token, number, expires_at, outcome: 'unchanged' };
    }
  } catch (error) {
    if (!isApiError(error, 'unauthorized')) throw error;
  }
  try {
    const recovered = await session.anonymous().recover({ account });
    output.note(
      'this wallet has a number: signed in and paid nothing; its older tokens are revoked everywhere',
    );
    keepToken(session, account, recovered);
    return { ...recovered, outcome: 'recovered' };
  } catch (error) {
    if (isApiError(error, 'no_active_subscription')) return undefined;
    throw error;
  }
}

async function payOnce(
  session: CommandSession,
  account: LocalAccount,
  options: SubscribeOptions,
  resume: SignedPayment | undefined,
): Promise<Subscribed> {
  if (resume === undefined) return pay(session, account, options, undefined);
  session.output.note('finishing an earlier payment; nothing else is paid');
  try {
    return await pay(session, account, options, resume);
  } catch (error) {
    // 402: it moved no money, and never will.
    if (!(error instanceof ApiError) || error.status !== 402) throw error;
    session.output.note(`the earlier payment moved no money (${error.code}): paying again`);
    return pay(session, account, options, undefined);
  }
}

async function pay(
  session: CommandSession,
  account: LocalAccount,
  { max, protocol }: SubscribeOptions,
  resume: SignedPayment | undefined,
): Promise<Subscribed> {
  const { store, output } = session;
  try {
    const bought = await interruptible((signal) =>
      untilInterrupted(
        signal,
        session.anonymous().subscribe({
          account,
          protocol,
          maxAmount: max,
          resume,
          onSigned(payment, { amount, payTo, chainId }) {
            signal.throwIfAborted();
            store.savePending(account.address, payment);
            // The service may still refuse it, for example because no number is available.
            output.note(`signed a payment of ${inDollars(amount)} USDC to ${payTo} on chain ${chainId}`);
            output.waiting('sending it');
          },
          onWait: ({ code }) => output.waiting(`waiting for the payment to arrive (${code})`),
        }),
      ),
    );
    keepToken(session, account, bought);
    const { token, number, expires_at } = bought;
    return { token, number, expires_at, outcome: outcomeOf(bought) };
  } catch (error) {
    // A used payment stays: without it, the next run, perhaps of a loop, would pay again. Every other refusal means that no money moved.
    if (isApiError(error, 'payment_already_used'))
      output.note(
        `nothing else is paid while its payment is kept: to buy again, remove ${store.pendingFile(account.address)}`,
      );
    else if (error instanceof ApiError && error.code !== 'settlement_pending' && !error.isNoAnswer)
      store.clearPending(account.address);
    if (error instanceof InterruptedError && store.pending(account.address) !== undefined)
      output.note('the payment is in progress: run the same command again, it does not pay twice');
    throw error;
  }
}

const outcomeOf = (bought: Purchase): Subscribed['outcome'] => {
  if (bought.recovered) return 'recovered';
  return bought.renewed ? 'renewed' : 'bought';
};

/** A payment that was sent cannot be canceled; the program ends without waiting for it. */
function untilInterrupted<T>(signal: AbortSignal, purchase: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    purchase.then(resolve, reject);
  });
}

export interface SignedIn {
  token: string;
  number: string;
  expires_at: string;
}

export function keepToken(
  session: CommandSession,
  { address }: LocalAccount,
  { token, number }: SignedIn,
): void {
  const { store, output, baseUrl, isDefaultWallet } = session;
  const aside = store.save({ base_url: baseUrl, wallet: address, token, number }, isDefaultWallet);
  if (aside !== undefined)
    output.note(`the token of the previous wallet is now in ${aside}: use it with --token-file`);
  output.note(`the token is in ${store.fileOf(address)}`);
}
