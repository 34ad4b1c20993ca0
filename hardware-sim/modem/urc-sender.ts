// Sends unsolicited lines where settings and faults want them: to one port, to both, in pairs, or nowhere.
import type { Clock, Timer } from '#shared/clock.ts';
import type { ModemSettings } from '../at/settings.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import type { ModemPorts } from './modem-ports.ts';

/** A line that waits for a second one goes alone after this time. */
const PAIR_TIMEOUT_MS = 1000;

/** Options of a sender. */
interface UrcSenderOptions {
  ports: ModemPorts;
  faults: FaultSet;
  clock: Clock;
  settings: () => ModemSettings;
}

/** Sends all unsolicited lines of one modem. */
export class UrcSender {
  readonly #options: UrcSenderOptions;
  #first: string | undefined;
  #pairing: Timer | undefined;

  constructor(options: UrcSenderOptions) {
    this.#options = options;
  }

  /** `isUrgent`: not even an answer that is being given holds it back. */
  send(line: string, { isUrgent = false } = {}): void {
    const { faults, clock } = this.#options;
    if (this.#first !== undefined) {
      const separator = faults.take('glued_urcs')?.apart_by === 'nothing' ? '' : '\r\n';
      const pair = this.#first + separator + line;
      this.forget();
      this.#sendNow(pair, isUrgent);
    } else if (faults.has('glued_urcs')) {
      this.#first = line;
      this.#pairing = clock.after(PAIR_TIMEOUT_MS, () => {
        this.forget();
        this.#sendNow(line, false);
      });
    } else {
      this.#sendNow(line, isUrgent);
    }
  }

  /** A line that still waits for another is not sent. */
  forget(): void {
    this.#pairing?.cancel();
    this.#first = undefined;
  }

  #sendNow(line: string, isUrgent: boolean): void {
    const { ports, faults, settings } = this.#options;
    const chosen = faults.get('urc_port')?.port ?? settings().urcPort;
    if (chosen === 'none') return;
    if (chosen !== 'usbmodem' && chosen !== 'at2') ports.sendUrc('at', line, isUrgent);
    if (chosen !== 'usbat' && chosen !== 'at') ports.sendUrc('at2', line, isUrgent);
  }
}
