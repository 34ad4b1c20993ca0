// The beats of one link. The first comes at a random instant, so that a fleet that came at once does not beat at once.
import type { Clock, Timer } from '#shared/clock.ts';

/** Beats without an answer after which a link is dead. */
const MISSED_MAX = 2;

export interface HeartbeatParts {
  clock: Clock;
  intervalMs: number;
  /** Asks the peer for a sign of life. */
  ping(): void;
  /** Told with each beat until when the link counts as up. */
  onBeat(aliveUntil: Date): void;
  onDead(): void;
}

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #missed = 0;
  #timer: Timer | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** Others believe in a silent link for one beat longer than its own instance. */
  get aliveUntil(): Date {
    const { clock, intervalMs } = this.#parts;
    return new Date(clock.now() + (MISSED_MAX + 1) * intervalMs);
  }

  start(): void {
    this.#after(Math.random() * this.#parts.intervalMs);
  }

  /** The peer gave a sign of life. */
  answered(): void {
    this.#missed = 0;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #after(delayMs: number): void {
    this.#timer = this.#parts.clock.after(delayMs, () => this.#beat());
  }

  #beat(): void {
    const { intervalMs, onBeat, onDead, ping } = this.#parts;
    if (this.#missed >= MISSED_MAX) {
      onDead();
      return;
    }
    this.#missed += 1;
    ping();
    onBeat(this.aliveUntil);
    this.#after(intervalMs);
  }
}
