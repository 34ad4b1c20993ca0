// Refunds a payment, once: one that bought nothing, or a share of one whose subscription an operator ended. Each transaction is stored
// before it is broadcast, and repeated unchanged.
import type { Hex } from 'viem';
import * as z from 'zod';
import { type Clock, sleep } from '#shared/clock.ts';
import { bigintOutput } from '#shared/json-codec.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal, OperatorUnfinished } from '../domain/refusal.ts';
import {
  type AuthorizedTransfer,
  authorizedTransferSchema,
  hexSchema,
} from '../domain/transfer-authorization.ts';
import type { SentTransfer, TokenTransfer } from './chain/token-transfers.ts';
import { PAYMENT_STATES, signedTransactionSchema } from './payment.ts';
import type { RefundTransaction, RefundWallet } from './refund-wallet.ts';

const RECEIPT_POLL_MS = 500;

/** The fields of a payment that a refund needs. */
export const refundablePaymentSchema = z.object({
  id: z.string(),
  state: z.enum(PAYMENT_STATES),
  transfer: authorizedTransferSchema,
  /** Smallest units that go back: at most the value of the transfer. */
  refundValue: bigintOutput,
  /** The transaction that transferred the money, if the service saw it and could not apply it. */
  transferHash: hexSchema.optional(),
  /** The transaction that refunds it, once there is one. */
  refund: signedTransactionSchema.optional(),
  /** When the first such transaction was stored, ms since the Unix epoch. */
  refundBeganAtMs: z.number().optional(),
  /** Refund transactions of this payer's other payments. */
  otherRefunds: z.array(hexSchema),
});
export type RefundablePayment = z.output<typeof refundablePaymentSchema>;

/** The ledger's operations for refunds. Every method is one transaction, and the process may die after any of them. */
export interface RefundLedger {
  /** Throws `OperatorRefusal` when there is no such payment. */
  find(id: string): Promise<RefundablePayment>;
  /**
   * → `refunding`. Returns the stored transaction, which is another operator's if that one was first. Throws `OperatorRefusal` if the
   * payment's money was spent meanwhile, or if another refund has the nonce.
   */
  start(id: string, refund: RefundTransaction, transferHash: Hex, reason: string): Promise<RefundTransaction>;
  /** Replaces a transaction that can never move money. Returns the transaction that is stored afterwards. */
  replace(id: string, hash: Hex, refund: RefundTransaction, reason: string): Promise<RefundTransaction>;
  /** Records that another transaction with the nonce of the stored one was mined and refunded the payment. */
  adopt(id: string, hash: Hex, mined: Hex): Promise<void>;
  /** `refunding` → `refunded`, by this transaction. */
  end(id: string, hash: Hex): Promise<void>;
  /**
   * → `closed`: the money is never refunded. `hash`: the stored transaction, which can never move the money; undefined without one. Throws
   * `OperatorRefusal` if another one is stored by now, or if the payment is no longer one whose money can be refunded.
   */
  close(id: string, hash: Hex | undefined, because: { reason: string; proof: string }): Promise<void>;
}

interface RefundParts {
  ledger: RefundLedger;
  clock: Clock;
  /** The payee's account on the chain of the payment. Used only when something is to be done there. */
  wallet: RefundWallet;
  /** Whether the chain shows `transferHash` as the transfer of this very authorization. Throws `OperatorRefusal` while its block is not safe. */
  isPaid(transfer: AuthorizedTransfer, transferHash: Hex): Promise<boolean>;
  /** The newest block that no reorganization reverts. */
  safeBlock(): Promise<bigint>;
  /** How long to wait for a block. */
  waitMs: number;
}

interface RefundOrder {
  reason: string;
  /** The transaction that transferred the money, if the service has not recorded it. */
  transferHash: Hex | undefined;
  /** Signs another transaction in place of one that can never move the money. */
  isSignedAgain: boolean;
  /** A transaction that sent the payer the same amount for something else. */
  unrelated: Hex | undefined;
}

/**
 * Returns the transaction that refunded the payment. Safe to repeat after a crash at any point, and to run by two operators at once. Throws
 * `OperatorRefusal` if no refund was sent, `OperatorUnfinished` if one may still be mined.
 */
export async function refund(parts: RefundParts, id: string, order: RefundOrder): Promise<Hex> {
  const payment = await parts.ledger.find(id);
  if (payment.state === 'refunded' && payment.refund !== undefined) return payment.refund.hash;
  // Throws: a closed payment is never refunded.
  if (payment.state === 'closed') refundableTransfer(payment);
  await parts.wallet.checkChain();
  const stored = payment.refund ?? (await begin(parts, payment, order));
  try {
    return await finish(parts, payment, stored, order);
  } catch (cause) {
    if (cause instanceof OperatorRefusal || cause instanceof OperatorUnfinished) throw cause;
    const said = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new OperatorUnfinished(
      `${id} may be refunded already (${said}). Run "${ownCommand('control-plane')} payment refund ${id}" to finish it.`,
    );
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
    throw new OperatorRefusal(
      `${transferHash} is not on the chain as the transfer of ${id}: no money arrived.`,
    );
  }
  let signed: RefundTransaction;
  try {
    signed = await wallet.sign(backwards(payment));
  } catch (error) {
    // Another operator may have sent it meanwhile: then the account no longer has the money.
    const { refund } = await ledger.find(id);
    if (refund === undefined) throw error;
    return refund;
  }
  return ledger.start(id, signed, transferHash, order.reason);
}

/** The transaction that transferred the money of a payment that is to be refunded. Throws `OperatorRefusal` for any other. */
export function refundableTransfer({ id, state, transferHash }: RefundablePayment, named?: Hex): Hex {
  const refuse = (why: string): OperatorRefusal => new OperatorRefusal(`${id} is ${state}: ${why}`);
  switch (state) {
    case 'applied':
      throw refuse(
        `its money bought a year. To end the subscription and refund what is left of it, run "${ownCommand('control-plane')} subscription end" with --refund.`,
      );
    case 'taken_back':
      throw refuse('the chain reverted its transfer, so there is nothing to refund');
    case 'claimed':
      throw refuse('no transaction was sent, and no money moved');
    case 'refunded':
      throw refuse('its money was sent already');
    case 'closed':
      throw refuse(
        'an operator gave up its refund for good. To pay its payer in another way, use your own wallet.',
      );
    case 'refunding':
    case 'in_flight':
    case 'reverted':
    case 'released':
    case 'void': {
      const hash = transferHash ?? named;
      if (hash !== undefined) return hash;
      throw refuse(
        'the service did not see a transfer of its money. If there was one, give its transaction with --transfer.',
      );
    }
  }
}

/** The transfer that refunds a payment. */
export const backwards = ({
  refundValue: value,
  transfer: { asset, from, to },
}: Pick<RefundablePayment, 'refundValue' | 'transfer'>): TokenTransfer => ({
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
  const { clock, ledger, safeBlock, wallet } = parts;
  const { id } = payment;
  const transfer = backwards(payment);
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
        result === 'reverted' ? 'was mined and moved nothing' : 'cannot be mined: its nonce is used';
      const others = await otherTransfers(parts, payment, order);
      const twin = others.find((other) => other.nonce === sent.nonce && other.sender === sent.sender);
      if (twin !== undefined) {
        await ledger.adopt(id, sent.hash, twin.hash);
        await ledger.end(id, twin.hash);
        return twin.hash;
      }
      // A transaction that was signed in this run is not replaced in it: the next one would be rejected for the same reason.
      if (!isFirst || !order.isSignedAgain)
        throw new OperatorUnfinished(
          `${sent.hash} ${why}. Run "${ownCommand('control-plane')} payment refund ${id} --sign-anew".`,
        );
      refuseSentOtherwise(others);
      if (!(await wallet.isSpent(sent, transfer, await safeBlock())))
        throw new OperatorUnfinished(
          `${sent.hash} ${why}, in a block that a reorganization may still revert. Run "${ownCommand('control-plane')} payment refund ${id} --sign-anew" in some minutes.`,
        );
      sent = await ledger.replace(id, sent.hash, await wallet.sign(transfer), `${sent.hash} ${why}`);
    }
    if (isFirst) broadcastProblem = await wallet.broadcast(sent.raw);
    if (clock.now() >= deadline) {
      const said = broadcastProblem === '' ? '' : ` (error of the RPC: ${broadcastProblem})`;
      throw new OperatorUnfinished(
        `${sent.hash} is not mined yet${said}. Run "${ownCommand('control-plane')} payment refund ${id}" to finish it.`,
      );
    }
    await sleep(clock, RECEIPT_POLL_MS);
  }
}

/** Transfers of that amount to the payer since the refund began, except those named as unrelated. */
export async function otherTransfers(
  { wallet }: Pick<RefundParts, 'wallet'>,
  payment: RefundablePayment,
  { unrelated }: Pick<RefundOrder, 'unrelated'>,
): Promise<SentTransfer[]> {
  const { otherRefunds, refundBeganAtMs } = payment;
  if (refundBeganAtMs === undefined) return [];
  const sent = await wallet.transfersSince(backwards(payment), refundBeganAtMs);
  return sent.filter(({ hash }) => hash !== unrelated && !otherRefunds.includes(hash));
}

function refuseSentOtherwise([other]: readonly SentTransfer[]): void {
  if (other === undefined) return;
  throw new OperatorRefusal(
    `${other.hash} sent the payer the same amount since then. If that was for something else, add --unrelated ${other.hash}.`,
  );
}
