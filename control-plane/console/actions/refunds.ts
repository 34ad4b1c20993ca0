// Refunds from the console, and refunds that are given up. Money is sent back for payments that bought nothing and for subscriptions that end: where the service was given the key of the account that was paid.
import { privateKeyToAccount } from 'viem/accounts';
import * as z from 'zod';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '../../config/config.ts';
import { closePayment } from '../../operator/close-payment.ts';
import { endAndRefund } from '../../operator/end-subscription.ts';
import type { Operator } from '../../operator/procedures/all-procedures.ts';
import {
  numberSchema,
  paymentIdSchema,
  reasonSchema,
  subscriptionIdSchema,
} from '../../operator/procedures/fields.ts';
import { refundPayment } from '../../operator/refund-payment.ts';

/** A block comes every 2 s. After this, the operator has to check the refund later. */
const WAIT_MS = 10_000;

/** Characters of the list of payments that the page showed: enough for a few. */
const SHOWN_LENGTH_MAX = 4_000;

export const refundSchema = z.object({ id: paymentIdSchema, reason: reasonSchema });

/** `shown`: the refund that the operator confirmed. */
export const endSchema = z.object({
  id: subscriptionIdSchema,
  number: numberSchema,
  reason: reasonSchema,
  shown: z.string().min(1).max(SHOWN_LENGTH_MAX),
});

export interface RefundSender {
  /** True when it has the key of the account that a payment went to. */
  hasKeyOf(payTo: string): boolean;
  /** Throws `OperatorRefusal` when nothing was sent, `OperatorUnfinished` when it may still be mined. */
  send(operator: Operator, id: string, reason: string): Promise<void>;
  /** Ends a subscription and refunds the unused share. Throws as `send` does. */
  end(operator: Operator, order: z.output<typeof endSchema>): Promise<void>;
}

type CloseOptions = Pick<Config, 'paymentsFile' | 'chainId' | 'rpcUrl' | 'rpcTimeoutMs' | 'safeDepthBlocks'>;

export type ConsoleRefundOptions = Pick<Config, 'consoleRefundKeyFile'> & CloseOptions;

/** Gives up the refund of a payment for good. Needs no key. Throws `OperatorRefusal` if the token would make it, or it may still be mined. */
export type RefundCloser = (operator: Operator, id: string, reason: string) => Promise<void>;

export const refundCloserOf =
  (options: CloseOptions): RefundCloser =>
  async (operator, id, reason) => {
    await closePayment(operator, id, { ...options, reason, yes: true, unrelated: undefined });
  };

export function refundSenderOf(options: ConsoleRefundOptions, clock: Clock): RefundSender | undefined {
  const { consoleRefundKeyFile: key } = options;
  if (key === undefined) return undefined;
  const { address } = privateKeyToAccount(key);
  const given = {
    ...options,
    clock,
    key,
    yes: true,
    signAnew: false,
    unrelated: undefined,
    waitMs: WAIT_MS,
  };
  return {
    hasKeyOf: (payTo) => payTo.toLowerCase() === address.toLowerCase(),
    async send(operator, id, reason) {
      await refundPayment(operator, id, { ...given, reason, transfer: undefined });
    },
    async end(operator, { reason, ...order }) {
      await endAndRefund(operator, order, { ...given, reason });
    },
  };
}
