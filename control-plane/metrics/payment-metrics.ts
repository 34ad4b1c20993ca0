// Metrics of payments from the request to the money, and of the relayer's gas.
import type { Instruments } from '#shared/process/instruments.ts';
import { type Listeners, PAYMENT_OUTCOMES } from './metric-events.ts';

const WEI_PER_ETHER = 1e18;

/** Blocks come every two seconds; a request waits for twenty seconds. */
const SETTLEMENT_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60];

export function paymentMetrics(make: Instruments): Listeners {
  const attempts = make.counter(
    'payment_attempts',
    `Requests with a payment, by outcome: ${PAYMENT_OUTCOMES.join(', ')}; failed is a fault of the service`,
    ['method', 'outcome'],
  );
  const verified = make.counter(
    'payments_verified',
    'Payments that were verified and for which a number was reserved',
    ['method'],
  );
  const refusals = make.counter(
    'payment_refusals',
    '402 answers by error; payment_required counts requests for the price, without a payment',
    ['code'],
  );
  const settlements = make.histogram(
    'settlement_duration',
    'Time from the submission of a transfer to its result: applied, unsigned, reverted, void, pending',
    SETTLEMENT_BUCKETS,
    ['chain', 'result'],
  );
  const reconciled = make.counter(
    'payments_reconciled',
    'Payments that were finished in the background, after their request had ended',
    ['chain', 'result'],
  );
  return {
    payment_attempted: ({ method, outcome }) => attempts.inc({ method, outcome }),
    payment_verified: ({ method }) => verified.inc({ method }),
    payment_refused: ({ code }) => refusals.inc({ code }),
    settled: ({ chainId, result, seconds }) => settlements.observe({ chain: chainId, result }, seconds),
    reconciled: ({ chainId, result }) => reconciled.inc({ chain: chainId, result }),
  };
}

/** `transfers`: how many the balance pays for now. */
export type ShowFunds = (chainId: number, funds: { balanceWei: bigint; transfers: number }) => void;

/** The relayer's balance at its last reading. */
export function relayerMetrics(make: Instruments): ShowFunds {
  const balance = make.gauge('relayer_balance_ether', 'Ether balance of the relayer, for gas', ['chain']);
  const left = make.gauge(
    'relayer_transfers_left',
    'Number of transfers that this balance pays for at the current fee',
    ['chain'],
  );
  return (chainId, { balanceWei, transfers }) => {
    balance.set({ chain: chainId }, Number(balanceWei) / WEI_PER_ETHER);
    left.set({ chain: chainId }, transfers);
  };
}
