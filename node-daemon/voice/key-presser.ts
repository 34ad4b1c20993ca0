// Presses telephone keys during a call, one after the other (3GPP TS 27.007 appendix C.11).
import { type Clock, sleep } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';

/** Least time between keys. Receivers miss keys that come faster. */
const KEY_GAP_MS = 130;
/** Most keys that wait to be pressed. */
const KEYS_MAX = 64;

interface KeyPresserParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keyCommand: (digit: string) => string;
}

/** The keys of one call. */
export class KeyPresser {
  readonly #parts: KeyPresserParts;
  readonly #waiting: string[] = [];
  #working: Promise<void> | undefined;
  #isOver = false;

  constructor(parts: KeyPresserParts) {
    this.#parts = parts;
  }

  /** Returns false if too many keys wait, or if one is not a key (ITU-T Q.23). */
  press(digits: string): boolean {
    if (!/^[0-9*#A-D]*$/.test(digits)) return false;
    if (this.#isOver || this.#waiting.length + digits.length > KEYS_MAX) return false;
    this.#waiting.push(...digits);
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
    return true;
  }

  /** Call it at the end of the call. Waiting keys are not pressed. */
  stop(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
  }

  async #work(): Promise<void> {
    const { channel, clock, keyCommand, log } = this.#parts;
    for (;;) {
      const digit = this.#waiting.shift();
      if (digit === undefined) return;
      const command = atCommand(keyCommand(digit), { shownAs: 'a key' });
      if ((await ask(channel, command).catch(() => undefined)) === undefined)
        log.warn({}, 'failed to press a key');
      await sleep(clock, KEY_GAP_MS);
    }
  }
}
