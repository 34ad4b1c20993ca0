// All networks that money may come in on: which are open now, and what is offered there.
import { type ClosedReason, type ConnectionParts, NetworkConnection } from './network-connection.ts';
import type { Offer, PaymentNetwork } from './offer.ts';

/** A network on which nothing is sold. */
export interface ClosedNetwork {
  chainId: number;
  reason: ClosedReason;
  since: Date;
}

export class PaymentNetworks {
  readonly connections: readonly NetworkConnection[];
  #offers: readonly Offer[] = [];

  private constructor(connections: readonly NetworkConnection[]) {
    this.connections = connections;
    this.#collect();
  }

  /**
   * Reads every token from its chain. Throws `NetworkMisconfigured` for a chain that answers and is not what is
   * configured; one that does not answer is closed, and tried again once `watch` was called.
   */
  static async open(networks: readonly PaymentNetwork[], parts: ConnectionParts): Promise<PaymentNetworks> {
    const connections = networks.map((network) => new NetworkConnection(network, parts));
    await Promise.all(connections.map((connection) => connection.open()));
    return new PaymentNetworks(connections);
  }

  watch(): void {
    for (const connection of this.connections) connection.watch(() => this.#collect());
  }

  stop(): void {
    for (const connection of this.connections) connection.stop();
  }

  /** Every way to pay that is known, also on networks that are closed. The same array until it changes. */
  get offers(): readonly Offer[] {
    return this.#offers;
  }

  /** The ways to pay right now. */
  get openOffers(): readonly Offer[] {
    return this.connections.flatMap(({ closed, offers }) => (closed === undefined ? offers : []));
  }

  /** Whether each token is known. A payment in another one cannot even be read. */
  get areKnown(): boolean {
    return this.connections.every(({ network, offers }) => offers.length === network.assets.length);
  }

  isOpen(chainId: number): boolean {
    return this.connections.some(
      ({ closed, network }) => network.chainId === chainId && closed === undefined,
    );
  }

  closed(): ClosedNetwork[] {
    return this.connections.flatMap(({ closed, network: { chainId } }) =>
      closed === undefined ? [] : [{ chainId, ...closed }],
    );
  }

  /** For the check of readiness; undefined while all is well. */
  trouble(): string | undefined {
    const closed = this.closed();
    if (closed.length === 0) return undefined;
    const which = closed.map(({ chainId, reason }) => `eip155:${chainId} ${reason}`).join(', ');
    return closed.length === this.connections.length
      ? `payments are unavailable: ${which}`
      : `some payment networks are unavailable: ${which}`;
  }

  #collect(): void {
    this.#offers = this.connections.flatMap(({ offers }) => offers);
  }
}
