// All payment networks: which are open now, and what they offer.
import { type ClosedReason, type ConnectionParts, NetworkConnection } from './network-connection.ts';
import type { Offer, PaymentNetwork } from './offer.ts';

/** A network without sales. */
interface ClosedNetwork {
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
   * Reads every token from its chain. Throws `NetworkMisconfigured` for a chain that responds but does not match the configuration. A chain
   * that does not respond is closed, and tried again once `watch` was called.
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

  /** All known payment options, also of closed networks. The same array until it changes. */
  get offers(): readonly Offer[] {
    return this.#offers;
  }

  /** The payment options that are open now. */
  get openOffers(): readonly Offer[] {
    return this.connections.flatMap(({ closed, offers }) => (closed === undefined ? offers : []));
  }

  /** Whether each token is known. A payment in an unknown token cannot be read. */
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

  /** The problem for the readiness check; undefined if there is none. */
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
