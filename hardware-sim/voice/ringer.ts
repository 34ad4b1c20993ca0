// The repeated lines of an incoming call, until it is answered (3GPP TS 27.007 §6.11, §7.6).
import type { Clock, Timer } from '#shared/clock.ts';
import type { ModemSettings } from '../at/settings.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import type { ShownCall } from './modem-call.ts';

interface RingerOptions {
  clock: Clock;
  faults: FaultSet;
  settings: () => ModemSettings;
  sendUrc: (line: string) => void;
  intervalMs: number;
}

/** Silent at first. */
export class Ringer {
  readonly #options: RingerOptions;
  #next: Timer | undefined;

  constructor(options: RingerOptions) {
    this.#options = options;
  }

  /** Rings at once, and goes on. */
  start(call: ShownCall): void {
    this.stop();
    this.#ring(call, this.#options.faults.take('clip_late') === undefined);
  }

  stop(): void {
    this.#next?.cancel();
    this.#next = undefined;
  }

  #ring(call: ShownCall, showsNumber: boolean): void {
    const { clock, settings, sendUrc, intervalMs } = this.#options;
    const { kept } = settings();
    sendUrc(kept.get('+CRC') === '1' ? '+CRING: VOICE' : 'RING');
    if (showsNumber && kept.get('+CLIP') === '1') {
      // <CLI validity> 1: withheld by the caller.
      const validity = call.number === '' ? 1 : 0;
      sendUrc(`+CLIP: "${call.number}",${call.numberType},,,,${validity}`);
    }
    this.#next = clock.after(intervalMs, () => this.#ring(call, true));
  }
}
