// The audio of a modem in memory: gives what a test has it give, at a time that the test moves, and keeps what it is given.
import type { PcmDevice } from '#node-daemon/audio/pcm-device.ts';

export class FakePcm implements PcmDevice {
  /** Frames that it took. */
  readonly taken: Uint8Array[] = [];
  takes = true;
  xruns = 0;
  closes = 0;
  #onAudio: (octets: Uint8Array) => void = () => undefined;
  #onClose: (reason: Error) => void = () => undefined;
  #gone: Error | undefined;

  onAudio(handler: (octets: Uint8Array) => void): void {
    this.#onAudio = handler;
  }

  onClose(handler: (reason: Error) => void): void {
    this.#onClose = handler;
    if (this.#gone !== undefined) handler(this.#gone);
  }

  write(octets: Uint8Array): boolean {
    // The caller may use its memory again.
    if (this.takes) this.taken.push(octets.slice());
    return this.takes;
  }

  async close(): Promise<void> {
    this.closes += 1;
  }

  give(octets: Uint8Array): void {
    this.#onAudio(octets);
  }

  vanish(reason: Error): void {
    this.#gone = reason;
    this.#onClose(reason);
  }
}
