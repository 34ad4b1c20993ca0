// What the service measures, for Prometheus. No number, wallet or text is in it.
import { Gauge, Registry } from 'prom-client';
import type { RelayerFunds } from '../payments/gas-watch.ts';
import { PAYMENT_STATES, type PaymentState } from '../payments/payment.ts';

const WEI_PER_ETHER = 1e18;

/** What is looked at when somebody asks for the metrics. */
export interface ServiceView {
  countPayments(): Promise<ReadonlyMap<PaymentState, number>>;
}

/** The metrics of one control plane, in a registry of its own. */
export class ServiceMetrics {
  readonly registry = new Registry();
  readonly #balance: Gauge<'chain'>;
  readonly #transfers: Gauge<'chain'>;

  constructor(view: ServiceView) {
    const registers = [this.registry];
    this.#balance = new Gauge({
      ...{ name: 'simrack_relayer_balance_ether', help: 'What the relayer has for gas', registers },
      labelNames: ['chain'],
    });
    this.#transfers = new Gauge({
      ...{ name: 'simrack_relayer_transfers_left', help: 'Transfers that are paid by it', registers },
      labelNames: ['chain'],
    });
    new Gauge({
      ...{ name: 'simrack_payments', help: 'Payments by state', registers },
      labelNames: ['state'],
      async collect() {
        this.reset();
        // Without the database all else is still told.
        const counts = await view.countPayments().catch(() => undefined);
        if (counts === undefined) return;
        for (const state of PAYMENT_STATES) this.set({ state }, counts.get(state) ?? 0);
      },
    });
  }

  relayerFunds(chainId: number, { balanceWei, transfers }: RelayerFunds): void {
    const chain = String(chainId);
    this.#balance.set({ chain }, Number(balanceWei) / WEI_PER_ETHER);
    this.#transfers.set({ chain }, transfers);
  }
}
