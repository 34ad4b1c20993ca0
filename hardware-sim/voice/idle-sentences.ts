// NMEA sentences (NMEA 0183) of the GNSS receiver on the voice port while there is no call: the fault `nmea_in_pcm`.
import type { FrameClock, Ticker } from '../audio/frame-clock.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import { HostOutlet, type OutletDevice } from './host-buffers.ts';

interface IdleSentencesOptions {
  frameClock: FrameClock;
  faults: FaultSet;
  /** Whether they go to that port. */
  isMixed: () => boolean;
  port: () => OutletDevice | undefined;
}

export class IdleSentences implements Ticker {
  readonly #options: IdleSentencesOptions;
  readonly #outlet: HostOutlet;
  #isOn = false;
  #dueMs = 0;

  constructor(options: IdleSentencesOptions) {
    this.#options = options;
    this.#outlet = new HostOutlet(options.port);
  }

  get dueMs(): number {
    return this.#dueMs;
  }

  /** The fault, or a call, came or went. */
  follow(isCalling: boolean): void {
    const { faults, frameClock } = this.#options;
    const wanted = !isCalling && faults.has('nmea_in_pcm');
    if (wanted === this.#isOn) return;
    this.#isOn = wanted;
    if (!wanted) {
      frameClock.remove(this);
      return;
    }
    this.skip();
    frameClock.add(this);
  }

  tick(): void {
    const { frameClock, isMixed } = this.#options;
    if (isMixed()) this.#outlet.give(Buffer.from(nmeaSentence(frameClock.now()), 'latin1'));
    this.skip();
  }

  skip(): void {
    const { faults, frameClock } = this.#options;
    this.#dueMs = frameClock.now() + (faults.get('nmea_in_pcm')?.every_ms ?? 1000);
  }
}

/** With its line end. */
export function nmeaSentence(atMs: number): string {
  const time = new Date(atMs).toISOString().slice(11, 22).replaceAll(':', '');
  const body = `GPGGA,${time},4736.37,N,12219.92,W,1,08,0.9,56.0,M,-17.2,M,,`;
  const checksum = [...body].reduce((sum, character) => sum ^ character.charCodeAt(0), 0);
  return `$${body}*${checksum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}
