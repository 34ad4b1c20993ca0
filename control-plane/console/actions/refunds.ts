// Money that came and bought nothing, sent back from the console: where the service was given the key of the account that was paid.
import { privateKeyToAccount } from 'viem/accounts';
import * as z from 'zod';
import type { Config } from '../../config/config.ts';
import type { Operator } from '../../operator/procedures/all-procedures.ts';
import { paymentIdSchema, reasonSchema } from '../../operator/procedures/fields.ts';
import { refundPayment } from '../../operator/refund-payment.ts';

/** A block comes every 2 s; who waits longer asks again. */
const WAIT_MS = 10_000;

export const refundSchema = z.object({ id: paymentIdSchema, reason: reasonSchema });

export interface RefundSender {
  /** True when it has the key of the account that a payment went to. */
  hasKeyOf(payTo: string): boolean;
  /** Throws `OperatorRefusal` when nothing was sent, `OperatorUnfinished` when it may still be mined. */
  send(operator: Operator, id: string, reason: string): Promise<void>;
}

export type RefundOptions = Pick<
  Config,
  'consoleRefundKeyFile' | 'paymentsFile' | 'chainId' | 'rpcUrl' | 'rpcTimeoutMs'
>;

export function refundSenderOf(options: RefundOptions): RefundSender | undefined {
  const { consoleRefundKeyFile: key } = options;
  if (key === undefined) return undefined;
  const { address } = privateKeyToAccount(key);
  return {
    hasKeyOf: (payTo) => payTo.toLowerCase() === address.toLowerCase(),
    async send(operator, id, reason) {
      await refundPayment(operator, id, {
        ...options,
        key,
        reason,
        yes: true,
        transfer: undefined,
        signAnew: false,
        unrelated: undefined,
        waitMs: WAIT_MS,
      });
    },
  };
}
