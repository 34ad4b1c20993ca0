// The start of a modem: it powers the card, sends its boot lines, and then can handle messages.
import type { Clock, Timer } from '#shared/clock.ts';
import type { ModelLines } from './modem-model.ts';
import type { SimReader } from './sim-reader.ts';

interface BootOptions {
  clock: Clock;
  sim: SimReader;
  lines: ModelLines;
  /** From the start until messages can be handled. */
  messagingAfterMs: number;
  sendUrc: (line: string) => void;
  /** Messages can be handled. */
  onMessagingReady: () => void;
}

/** Stopped at first. */
export class Boot {
  readonly #options: BootOptions;
  #power = new AbortController();
  #messaging: Timer | undefined;
  #isMessagingReady = false;

  constructor(options: BootOptions) {
    this.#options = options;
  }

  /** Aborted when the modem loses power or restarts. Unfinished work stops. */
  get signal(): AbortSignal {
    return this.#power.signal;
  }

  get isMessagingReady(): boolean {
    return this.#isMessagingReady;
  }

  /** Sends the boot lines only with `isAnnounced`. */
  start({ isAnnounced }: { isAnnounced: boolean }): void {
    const { clock, sim, lines, messagingAfterMs, sendUrc } = this.#options;
    this.stop();
    sim.powerUp();
    const isCardReady = sim.state === 'ready';
    if (isAnnounced) for (const line of lines.started) sendUrc(line);
    if (isAnnounced && isCardReady) for (const line of lines.cardReady) sendUrc(line);
    const onReady = (): void => {
      this.#isMessagingReady = true;
      if (isAnnounced && sim.state === 'ready') for (const line of lines.messagingReady) sendUrc(line);
      this.#options.onMessagingReady();
    };
    if (!isAnnounced || messagingAfterMs === 0) onReady();
    else this.#messaging = clock.after(messagingAfterMs, onReady);
  }

  stop(): void {
    this.#messaging?.cancel();
    this.#isMessagingReady = false;
    this.#power.abort(new Error('the modem lost power'));
    this.#power = new AbortController();
  }
}
