// The radio of a modem: registration, signal, the time that messages take on the air.
import { type Clock, sleep, type Timer } from '#shared/clock.ts';
import type { ModemSettings } from '../at/settings.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import { isRegistered, type Registration, registrationOf, registrationText } from './registration.ts';

/** -71 dBm: 0 to 31, 99 when there is nothing to measure (3GPP TS 27.007 §8.5). */
const USUAL_RSSI = 21;
const NO_RSSI = 99;
/** 3GPP TS 24.008 annex G: IMSI unknown in HLR. */
const CAUSE_UNKNOWN_SUBSCRIBER = 2;

interface RadioOptions {
  faults: FaultSet;
  clock: Clock;
  settings: () => ModemSettings;
  isSimReady: () => boolean;
  /** The network knows the card. */
  isSubscribed: () => boolean;
  /** Time that each message takes on the air. */
  sendDelayMs: number;
  sendUrc: (line: string) => void;
  /** Lines of the make about another signal. */
  signalLines: (rssi: number) => readonly string[];
  /** The modem may be reachable again. */
  onReady: () => void;
}

/** On from the start. */
export class Radio {
  readonly #options: RadioOptions;
  #airIsFreeAtMs = 0;
  /** Runs while a slow network registers the modem. */
  #registering: Timer | undefined;
  #isFlapAway = false;
  #flapping: Timer | undefined;
  #shown: Registration;
  #shownRssi: number;

  constructor(options: RadioOptions) {
    this.#options = options;
    this.#shown = this.registration;
    this.#shownRssi = this.rssi;
  }

  get registration(): Registration {
    const { faults, settings, isSimReady, isSubscribed } = this.#options;
    const { functionality, operatorMode } = settings();
    return registrationOf({
      isRadioOn: functionality === 1 && operatorMode !== 2,
      isSimReady: isSimReady(),
      isSearching:
        faults.has('not_registered') ||
        faults.get('stuck')?.cured_by === 'radio' ||
        this.#isFlapAway ||
        this.#registering !== undefined,
      isDenied: faults.has('denied') || !isSubscribed(),
      isRoaming: faults.has('roaming'),
      isVolteOnly: faults.has('volte_only'),
    });
  }

  get isRegistered(): boolean {
    return isRegistered(this.registration);
  }

  /** Why the network refused, if it did. */
  get rejectCause(): number | undefined {
    const { faults, isSubscribed } = this.#options;
    return faults.get('denied')?.cause ?? (isSubscribed() ? undefined : CAUSE_UNKNOWN_SUBSCRIBER);
  }

  /** `<rssi>` of +CSQ. */
  get rssi(): number {
    const fault = this.#options.faults.get('signal');
    if (fault !== undefined) return fault.rssi;
    return this.isRegistered ? USUAL_RSSI : NO_RSSI;
  }

  /**
   * Sends one message after those before it. Returns `undefined` if the signal aborts before the message is out.
   */
  whenOut<T>(signal: AbortSignal, submit: () => T): T | undefined | Promise<T | undefined> {
    const waitMs = this.#reserveAirMs();
    if (waitMs <= 0) return submit();
    return sleep(this.#options.clock, waitMs, signal).then(submit, () => undefined);
  }

  #reserveAirMs(): number {
    const { faults, clock, sendDelayMs } = this.#options;
    const delayMs = faults.get('send_delay')?.ms ?? faults.get('slow_network')?.ms ?? sendDelayMs;
    if (delayMs === 0 && this.#airIsFreeAtMs === 0) return 0;
    const nowMs = clock.now();
    this.#airIsFreeAtMs = Math.max(nowMs, this.#airIsFreeAtMs) + delayMs;
    return this.#airIsFreeAtMs - nowMs;
  }

  /** The radio is on again, after a start or a setting: a slow network takes its time. */
  startSearch(): void {
    const { faults, clock } = this.#options;
    this.#airIsFreeAtMs = 0;
    const delayMs = faults.get('slow_network')?.ms ?? 0;
    this.#registering?.cancel();
    this.#registering = undefined;
    if (delayMs === 0) return;
    this.#registering = clock.after(delayMs, () => {
      this.#registering = undefined;
      this.onConditionsChanged();
    });
  }

  /**
   * After a change of anything that registration depends on: reports the registration, and asks for waiting
   * messages.
   */
  onConditionsChanged(): void {
    this.#followFlapping();
    const before = this.#shown;
    const now = this.registration;
    this.#shown = now;
    const { settings, sendUrc } = this.#options;
    const reports = settings().registrationReports;
    const changes = [
      ['+CREG', before.circuitSwitched, now.circuitSwitched],
      ['+CGREG', before.packetSwitched, now.packetSwitched],
      ['+CEREG', before.evolved, now.evolved],
    ] as const;
    for (const [name, was, is] of changes) {
      if (was !== is && reports[name] > 0) {
        sendUrc(`${name}: ${registrationText(is, reports[name], this.rejectCause)}`);
      }
    }
    this.#reportSignal();
    if (isRegistered(now)) this.#options.onReady();
  }

  /** No timer goes on. */
  stop(): void {
    this.#registering?.cancel();
    this.#flapping?.cancel();
    this.#flapping = undefined;
  }

  #reportSignal(): void {
    const { rssi } = this;
    if (rssi === this.#shownRssi) return;
    this.#shownRssi = rssi;
    for (const line of this.#options.signalLines(rssi)) this.#options.sendUrc(line);
  }

  #followFlapping(): void {
    const period = this.#options.faults.get('flapping')?.period_ms;
    if (period === undefined) {
      this.#flapping?.cancel();
      this.#flapping = undefined;
      this.#isFlapAway = false;
    } else if (this.#flapping === undefined) {
      this.#isFlapAway = true;
      this.#flapAfter(period / 2);
    }
  }

  #flapAfter(delayMs: number): void {
    this.#flapping = this.#options.clock.after(delayMs, () => {
      this.#isFlapAway = !this.#isFlapAway;
      this.#flapAfter(delayMs);
      this.onConditionsChanged();
    });
  }
}
