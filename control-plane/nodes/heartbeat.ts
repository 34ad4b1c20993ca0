// The heartbeat of one link. The first beat is at a random time, so that nodes that connect together do not beat together.
import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';

/** A link is dead after this many beats without a response. */
const MISSED_MAX = 2;

interface HeartbeatParts {
  clock: Clock;
  random: Random;
  intervalMs: number;
  /** Requests a pong with this payload. */
  ping(payload: string): void;
  /** Whether the link was not read for a time since the last beat: pongs may wait in it. */
  takeRest(): boolean;
  /** Called at each beat with the time until which the link counts as up. */
  onBeat(aliveUntil: Date): void;
  onDead(): void;
}

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  /** Payloads of the beats without a pong, while the link is read. A peer that does not read cannot guess one, and so leaves no more than two beats unread. */
  #unanswered: string[] = [];
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

  /** A pong came. One that answers no beat is only a sign of life. */
  answered(payload: string): void {
    this.#unanswered = this.#unanswered.slice(this.#unanswered.indexOf(payload) + 1);
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
    const { intervalMs, onBeat, onDead, ping, takeRest } = this.#parts;
    if (takeRest()) this.#unanswered = [];
    if (this.#unanswered.length >= MISSED_MAX) {
      onDead();
      return;
    }
    const payload = randomUUID();
    this.#unanswered.push(payload);
    ping(payload);
    onBeat(this.aliveUntil);
    this.#after(intervalMs);
  }
}
