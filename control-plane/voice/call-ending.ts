// Hangs a call up at its node: once on request, and as often as necessary when the call is unwanted.
import type { Timer } from '#shared/clock.ts';
import type { CommandParams } from '#shared/link/messages.ts';
import type { Base } from '../bus/base.ts';
import { isCallUnknown } from '../nodes/node-link.ts';

const RETRY_MS = 5_000;

/** Either the subscriber ends the call, or it has no subscriber any more. */
export type HangUpReason = CommandParams<'hang_up'>['reason'];

interface CallEndingParts extends Pick<Base, 'clock' | 'log'> {
  /** Sends the node the command. */
  hangUp(reason: HangUpReason): Promise<void>;
  /** Called when the node says that it does not have the call any more. */
  onGone(): void;
}

export class CallEnding {
  readonly #parts: CallEndingParts;
  #hangingUp: Promise<void> | undefined;
  /** The node has taken the command. */
  #isHungUp = false;
  #unwanted: HangUpReason | undefined;
  #retry: Timer | undefined;
  #isOver = false;

  constructor(parts: CallEndingParts) {
    this.#parts = parts;
  }

  /** Whether the end was requested: the line is free in a moment. */
  get hasBegun(): boolean {
    return this.#hangingUp !== undefined || this.#unwanted !== undefined || this.#isHungUp;
  }

  /** Throws `CommandRefusal` or `NodeUnavailable`. */
  hangUp(reason: HangUpReason): Promise<void> {
    this.#hangingUp ??= this.#parts
      .hangUp(reason)
      .then(() => {
        this.#isHungUp = true;
      })
      .finally(() => {
        this.#hangingUp = undefined;
      });
    return this.#hangingUp;
  }

  /** Hangs up until it is over. The first reason counts. */
  dismiss(reason: HangUpReason): void {
    this.#unwanted ??= reason;
    this.hangUp(this.#unwanted).catch((error: unknown) => {
      const { clock, log, onGone } = this.#parts;
      if (isCallUnknown(error)) onGone();
      log.warn({ err: error }, 'hanging up a call failed');
      this.#retry?.cancel();
      if (!this.#isOver) this.#retry = clock.after(RETRY_MS, () => this.dismiss(reason));
    });
  }

  /** Asks again now if the call is unwanted. Returns whether it is. */
  again(): boolean {
    if (this.#unwanted !== undefined) this.dismiss(this.#unwanted);
    return this.#unwanted !== undefined;
  }

  /** The call has ended. */
  over(): void {
    this.#isOver = true;
    this.#retry?.cancel();
  }
}
