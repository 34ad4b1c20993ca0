// Sends commands to a modem that may not answer.
import type { Clock } from '#shared/clock.ts';
import type { Port } from '../../at/port.ts';

const FINAL = /\r\n(OK|ERROR|\+CM[ES] ERROR: ?[^\r]*|COMMAND NOT SUPPORT)\r\n/;
/** More octets than this are noise and not a final result code. */
const HEARD_LENGTH_MAX = 64 * 1024;

/** One opened port, whose modem may not be able to answer. */
export class BlindLine {
  readonly #port: Port;
  readonly #clock: Clock;
  #heard = '';
  #isGone = false;
  #onEvent: () => void = () => undefined;
  #onHurry: () => void = () => undefined;

  constructor(port: Port, clock: Clock) {
    this.#port = port;
    this.#clock = clock;
    port.onData((bytes) => {
      this.#heard = (this.#heard + Buffer.from(bytes).toString('latin1')).slice(-HEARD_LENGTH_MAX);
      this.#onEvent();
    });
    port.onClose(() => {
      this.#isGone = true;
      this.#onEvent();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Sends a command. Resolves with whether a final result code came within `timeoutMs`. Never rejects. */
  async say(command: string, timeoutMs: number): Promise<boolean> {
    this.#heard = '';
    this.#port.write(Buffer.from(`${command}\r`, 'latin1')).catch(() => undefined);
    await this.#until(() => this.#isGone || FINAL.test(this.#heard), timeoutMs);
    return FINAL.test(this.#heard);
  }

  /** Resolves with whether the port closed within `timeoutMs`. */
  async goes(timeoutMs: number): Promise<boolean> {
    await this.#until(() => this.#isGone, timeoutMs);
    return this.#isGone;
  }

  /** Ends the wait for the last command. Later commands wait as usual. */
  hurry(): void {
    this.#onHurry();
  }

  async close(): Promise<void> {
    await this.#port.close();
  }

  async #until(isReached: () => boolean, timeoutMs: number): Promise<void> {
    if (isReached()) return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(timeoutMs, resolve);
      const end = (): void => {
        timer.cancel();
        resolve();
      };
      this.#onHurry = end;
      this.#onEvent = () => {
        if (isReached()) end();
      };
    });
    this.#onEvent = () => undefined;
    this.#onHurry = () => undefined;
  }
}
