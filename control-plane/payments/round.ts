// One round over payments that wait for the chain: a few at a time, each by itself.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { isUnreachable } from './chain/rpc.ts';
import type { Payment, PaymentLedger } from './payment.ts';

/** Payments of one round at most; the next one goes on. */
export const ROUND_MAX = 1_000;

/** Payments checked at the same time: one whose calls hang holds up few others. */
const CHECKS_AT_ONCE = 8;

/** Never rejects. The first call that the RPC does not answer ends the round: the others would wait for the same. */
export async function checkEach(
  { ledger, clock, log }: { ledger: Pick<PaymentLedger, 'noteCheck'>; clock: Clock; log: Logger },
  payments: readonly Payment[],
  check: (payment: Payment) => Promise<void>,
): Promise<void> {
  const left = [...payments];
  const checkers = Array.from({ length: CHECKS_AT_ONCE }, async () => {
    for (let payment = left.shift(); payment !== undefined; payment = left.shift()) {
      const { id } = payment;
      try {
        await check(payment);
      } catch (error) {
        log.error({ err: error, payment: id }, 'payment not checked: the chain or the database failed');
        if (isUnreachable(error)) left.length = 0;
        else
          await ledger
            .noteCheck(id, new Date(clock.now()))
            .catch((cause: unknown) => log.warn({ err: cause, payment: id }, 'check of a payment not noted'));
      }
    }
  });
  await Promise.all(checkers);
}
