// Alerts of a running service: a check every ten seconds, and independent channels, so that none delays another.
import type { Clock } from '#shared/clock.ts';
import type { Base } from '../bus/base.ts';
import { repeat } from '../housekeeping/repeat.ts';
import type { ClosedChain } from '../store/operations/fleet-snapshot.ts';
import type { AlertChannel } from './alert-channel.ts';
import { AlertPost } from './alert-post.ts';
import { checkForTroubles } from './alert-watch.ts';
import type { AlertThresholds } from './conditions.ts';

const CHECK_MS = 10_000;
const POST_MS = 5_000;

interface AlertService {
  /** Called with every reading of a relayer's balance. */
  onFunds(chainId: number, funds: { transfers: number }): void;
  stop(): Promise<void>;
}

interface AlertServiceParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  channels: readonly AlertChannel[];
  /** Addresses of this instance's relayers in lower case, by chain. */
  relayers: ReadonlyMap<number, readonly string[]>;
  closedChains: () => readonly ClosedChain[];
  thresholds: AlertThresholds;
}

export function startAlerts({ channels, ...parts }: AlertServiceParts): AlertService {
  const { clock, log } = parts;
  const readings = new GasReadings(clock, parts.relayers.keys());
  const posts = channels.map((channel) => new AlertPost({ ...parts, channel }));
  const work = [
    repeat({ clock, log, task: 'alerts', everyMs: CHECK_MS, firstMs: CHECK_MS }, () =>
      checkForTroubles({ ...parts, gas: () => readings.fresh() }),
    ),
    ...posts.map((post) =>
      repeat({ clock, log, task: 'alert_messages', everyMs: POST_MS }, () => post.round()),
    ),
  ];
  return {
    onFunds: (chainId, { transfers }) => readings.note(chainId, transfers),
    async stop() {
      const stopped = Promise.all(work.map((each) => each.stop()));
      await Promise.all([stopped, ...posts.map((post) => post.stop(stopped))]);
    },
  };
}

/** It is read every minute. */
const FRESH_MS = 5 * 60_000;

class GasReadings {
  readonly #clock: Clock;
  readonly #readings = new Map<number, { transfers: number; atMs: number }>();

  constructor(clock: Clock, chainIds: Iterable<number>) {
    this.#clock = clock;
    for (const chainId of chainIds)
      this.#readings.set(chainId, { transfers: 0, atMs: Number.NEGATIVE_INFINITY });
  }

  note(chainId: number, transfers: number): void {
    this.#readings.set(chainId, { transfers, atMs: this.#clock.now() });
  }

  /** Transfers by chain, undefined if the balance could not be read recently. */
  fresh(): Map<number, number | undefined> {
    const oldest = this.#clock.now() - FRESH_MS;
    return new Map(
      [...this.#readings].map(([chainId, { transfers, atMs }]) => [
        chainId,
        atMs >= oldest ? transfers : undefined,
      ]),
    );
  }
}
