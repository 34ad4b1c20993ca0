// One round over payments that wait for the chain: a few at a time, each independent of the others.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { isUnreachable } from './chain/rpc.ts';
import type { Payment, PaymentLedger } from './payment.ts';

/** Payments per round; the next round continues. */
export const ROUND_MAX = 1_000;

/** After the wait of its request, a payment in flight is left alone for this long. */
export const SETTLING_MARGIN_MS = 10_000;

/** Concurrent checks. A payment whose calls hang delays only a few others. */
const CHECKS_AT_ONCE = 8;

/** Never rejects. The round ends at the first call that the RPC does not answer: the others would wait for the same. */
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
            .catch((cause: unknown) =>
              log.warn({ err: cause, payment: id }, 'recording the check of a payment failed'),
            );
      }
    }
  });
  await Promise.all(checkers);
}
