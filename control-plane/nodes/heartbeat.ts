// The heartbeat of one link. The first beat is at a random time, so that nodes that connect together do not beat together.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';

/** A link is dead after this many beats without a response. */
const MISSED_MAX = 2;

interface HeartbeatParts {
  clock: Clock;
  random: Random;
  intervalMs: number;
  /** Requests a sign of life from the peer. */
  ping(): void;
  /** Called at each beat with the time until which the link counts as up. */
  onBeat(aliveUntil: Date): void;
  onDead(): void;
}

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #missed = 0;
  #heardAt: Date;
  #timer: Timer | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#heardAt = new Date(parts.clock.now());
  }

  /** The last sign of life; before the first one, the beginning of the link. */
  get heardAt(): Date {
    return this.#heardAt;
  }

  /** Other instances trust a silent link for one beat longer than its own instance does. */
  get aliveUntil(): Date {
    const { clock, intervalMs } = this.#parts;
    return new Date(clock.now() + (MISSED_MAX + 1) * intervalMs);
  }

  start(): void {
    const { intervalMs, random } = this.#parts;
    this.#after(random() * intervalMs);
  }

  /** The peer answered a beat. */
  answered(): void {
    this.#missed = 0;
    this.heard();
  }

  /** The peer gave a sign of life. */
  heard(): void {
    this.#heardAt = new Date(this.#parts.clock.now());
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
