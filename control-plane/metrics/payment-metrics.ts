// Payments from the request to the money, and what the relayer has for gas.
import type { RelayerFunds } from '../payments/gas-watch.ts';
import type { Instruments, Listeners } from './instruments.ts';

const WEI_PER_ETHER = 1e18;

/** Blocks come every two seconds; a request waits for twenty. */
const SETTLEMENT_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60];

export function paymentMetrics(make: Instruments): Listeners {
  const attempts = make.counter('payment_attempts', 'Requests that paid, by their end', [
    'method',
    'outcome',
  ]);
  const verified = make.counter('payments_verified', 'Payments found good, with a number reserved', [
    'method',
  ]);
  const refusals = make.counter('payment_refusals', 'Payments refused, by what the 402 says', ['code']);
  const settlements = make.histogram(
    'settlement_duration',
    'From the submission of a transfer to what is known of it',
    SETTLEMENT_BUCKETS,
    ['chain', 'result'],
  );
  const reconciled = make.counter('payments_reconciled', 'Payments finished after their request', [
    'chain',
    'result',
  ]);
  return {
    payment_attempted: ({ method, outcome }) => attempts.inc({ method, outcome }),
    payment_verified: ({ method }) => verified.inc({ method }),
    payment_refused: ({ code }) => refusals.inc({ code }),
    settled: ({ chainId, result, seconds }) => settlements.observe({ chain: chainId, result }, seconds),
    reconciled: ({ chainId, result }) => reconciled.inc({ chain: chainId, result }),
  };
}

/** What the relayer has, as it was seen last. */
export function relayerMetrics(make: Instruments): (chainId: number, funds: RelayerFunds) => void {
  const balance = make.gauge('relayer_balance_ether', 'What the relayer has for gas', ['chain']);
  const left = make.gauge('relayer_transfers_left', 'Transfers that are paid by it', ['chain']);
  return (chainId, { balanceWei, transfers }) => {
    balance.set({ chain: chainId }, Number(balanceWei) / WEI_PER_ETHER);
    left.set({ chain: chainId }, transfers);
  };
}
