// Sends a payment that bought nothing back to its payer, once: what is broadcast was stored before, and is sent again as it is.
import type { Hex } from 'viem';
import { type Clock, sleep } from '#shared/clock.ts';
import { OperatorRefusal, OperatorUnfinished } from '../domain/operator-refusal.ts';
import type { AuthorizedTransfer } from '../domain/transfer-authorization.ts';
import type { PaymentState } from './payment.ts';
import type { RefundTransaction, RefundTransfer, RefundWallet, SentTransfer } from './refund-wallet.ts';

const RECEIPT_POLL_MS = 500;

/** A payment as a refund sees it. */
export interface RefundablePayment {
  id: string;
  state: PaymentState;
  transfer: AuthorizedTransfer;
  /** The transaction that brought the money, where the service saw it and could not apply it. */
  transferHash: Hex | undefined;
  /** The transaction that sends it back, once there is one. */
  refund: RefundTransaction | undefined;
  /** When the first such transaction was stored, ms since the Unix epoch. */
  refundBeganAtMs: number | undefined;
  /** Transactions that send other payments of this payer back. */
  otherRefunds: readonly Hex[];
}

/** The ledger as refunds need it. Every method is one transaction; each may be the last that this process does. */
export interface RefundLedger {
  /** Throws `OperatorRefusal` when there is no such payment. */
  find(id: string): Promise<RefundablePayment>;
  /**
   * → `refunding`. Gives the transaction that is stored, which is another operator's where that came first. Throws
   * `OperatorRefusal` when the payment's money was spent meanwhile, or another refund has the nonce.
   */
  start(id: string, refund: RefundTransaction, transferHash: Hex, reason: string): Promise<RefundTransaction>;
  /** Puts a transaction in the place of one that can never move money. Gives the one that is stored then. */
  replace(id: string, hash: Hex, refund: RefundTransaction, reason: string): Promise<RefundTransaction>;
  /** Notes that another transaction with the nonce of the stored one was mined, and sent the money back. */
  adopt(id: string, hash: Hex, mined: Hex): Promise<void>;
  /** `refunding` → `refunded`, by this transaction. */
  end(id: string, hash: Hex): Promise<void>;
}

export interface RefundParts {
  ledger: RefundLedger;
  clock: Clock;
  /** The chain of the payment, and the account whose key was given. Asked once something is to be done there. */
  wallet: RefundWallet;
  /** True once `transferHash` is seen on the chain as the transfer of this very authorization. */
  isPaid(transfer: AuthorizedTransfer, transferHash: Hex): Promise<boolean>;
  /** How long a block is waited for. */
  waitMs: number;
}

export interface RefundOrder {
  reason: string;
  /** The transaction that brought the money, where the service has not noted it. */
  transferHash: Hex | undefined;
  /** Sign another transaction in the place of one that can never move the money. */
  isSignedAnew: boolean;
  /** A transaction that sent the payer the same amount for something else. */
  unrelated: Hex | undefined;
}

/**
 * Gives the transaction that sent the payment back. Safe to be called again after a crash at any point, and by two
 * operators at once. Throws `OperatorRefusal` when nothing was sent, `OperatorUnfinished` when it may still be mined.
 */
export async function refund(parts: RefundParts, id: string, order: RefundOrder): Promise<Hex> {
  const payment = await parts.ledger.find(id);
  if (payment.state === 'refunded' && payment.refund !== undefined) return payment.refund.hash;
  await parts.wallet.checkChain();
  const stored = payment.refund ?? (await begin(parts, payment, order));
  try {
    return await finish(parts, payment, stored, order);
  } catch (cause) {
    if (cause instanceof OperatorRefusal || cause instanceof OperatorUnfinished) throw cause;
    const said = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new OperatorUnfinished(`${id} may be sent back already (${said}); run the same command again`);
  }
}

async function begin(
  { isPaid, ledger, wallet }: RefundParts,
  payment: RefundablePayment,
  order: RefundOrder,
): Promise<RefundTransaction> {
  const { id, transfer } = payment;
  const transferHash = refundableTransfer(payment, order.transferHash);
  if (!(await isPaid(transfer, transferHash))) {
    throw new OperatorRefusal(`${transferHash} is not on the chain as the transfer of ${id}: no money came`);
  }
  return ledger.start(id, await wallet.sign(backwards(transfer)), transferHash, order.reason);
}

/** The transaction that brought the money of a payment that bought nothing. Throws `OperatorRefusal` for any other. */
export function refundableTransfer({ id, state, transferHash }: RefundablePayment, named?: Hex): Hex {
  const refuse = (why: string): OperatorRefusal => new OperatorRefusal(`${id} is ${state}: ${why}`);
  switch (state) {
    case 'applied':
      throw refuse('its money bought a year, which is not taken back');
    case 'taken_back':
      throw refuse('the chain took its money back, and there is nothing to send');
    case 'claimed':
      throw refuse('nothing was put on the chain, and no money moved');
    case 'refunding':
    case 'refunded':
      throw refuse('it is sent back already');
    case 'in_flight':
    case 'reverted':
    case 'released':
    case 'void': {
      const hash = transferHash ?? named;
      if (hash !== undefined) return hash;
      throw refuse(
        'the service has seen no money of it; if some came, name the transaction that brought it with --transfer',
      );
    }
  }
}

const backwards = ({ asset, from, to, value }: AuthorizedTransfer): RefundTransfer => ({
  asset,
  value,
  from: to,
  to: from,
});

async function finish(
  parts: RefundParts,
  payment: RefundablePayment,
  stored: RefundTransaction,
  order: RefundOrder,
): Promise<Hex> {
  const { clock, ledger, wallet } = parts;
  const { id } = payment;
  const transfer = backwards(payment.transfer);
  const deadline = clock.now() + parts.waitMs;
  let sent = stored;
  let broadcastProblem = '';
  for (let round = 0; ; round += 1) {
    const result = await wallet.resultOf(sent.hash, transfer);
    if (result === 'transferred') {
      await ledger.end(id, sent.hash);
      return sent.hash;
    }
    const isFirst = round === 0;
    const isGone = result === 'reverted' || (isFirst && (await wallet.isNonceGone(sent)));
    if (isGone) {
      const why =
        result === 'reverted' ? 'was mined and moved nothing' : 'can not be mined: its nonce is used';
      const others = await otherTransfers(parts, payment, order);
      const twin = others.find((other) => other.nonce === sent.nonce && other.sender === sent.sender);
      if (twin !== undefined) {
        await ledger.adopt(id, sent.hash, twin.hash);
        await ledger.end(id, twin.hash);
        return twin.hash;
      }
      // One that was signed in this run is not replaced in it: what refused it would refuse the next.
      if (!isFirst || !order.isSignedAnew)
        throw new OperatorUnfinished(`${sent.hash} ${why}; run it again with --sign-anew`);
      refuseSentOtherwise(others);
      sent = await ledger.replace(id, sent.hash, await wallet.sign(transfer), `${sent.hash} ${why}`);
    }
    if (isFirst) broadcastProblem = await wallet.broadcast(sent.raw);
    if (clock.now() >= deadline) {
      const said = broadcastProblem === '' ? '' : ` (the RPC said: ${broadcastProblem})`;
      throw new OperatorUnfinished(`${sent.hash} is not mined yet${said}; run the same command again`);
    }
    await sleep(clock, RECEIPT_POLL_MS);
  }
}

/** Transfers of that amount to the payer since the refund began, which nobody has named as something else. */
async function otherTransfers(
  { wallet }: RefundParts,
  { otherRefunds, refundBeganAtMs, transfer }: RefundablePayment,
  { unrelated }: RefundOrder,
): Promise<SentTransfer[]> {
  if (refundBeganAtMs === undefined) return [];
  const sent = await wallet.transfersSince(backwards(transfer), refundBeganAtMs);
  return sent.filter(({ hash }) => hash !== unrelated && !otherRefunds.includes(hash));
}

function refuseSentOtherwise([other]: readonly SentTransfer[]): void {
  if (other === undefined) return;
  throw new OperatorRefusal(
    `${other.hash} sent the payer the same amount since: if that was for something else, add --unrelated ${other.hash}`,
  );
}
