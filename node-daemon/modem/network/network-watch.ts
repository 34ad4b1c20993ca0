// Watches the network of one SIM in service: registration, signal and operator, by URCs and polls.
import type { Clock, Timer } from '#shared/clock.ts';
import { ask } from '../../at/ask.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand, atQuery } from '../../at/command.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import type { ModemProfile, RegistrationDomain } from '../../profiles/profile.ts';
import {
  dbmOf,
  extendedSignalOf,
  operatorOf,
  parseRegistration,
  REGISTRATION_ANSWER,
  type Registration,
  type Service,
  serviceOf,
  signalOf,
} from './network.ts';

/** Operators change with the location, and URCs report that. This poll is for lost URCs. */
const OPERATOR_POLL_MS = 10 * 60_000;
/** Registrations come in bursts. The daemon asks for the operator once, after the last one. */
const OPERATOR_AFTER_MS = 1_000;
/** A modem that refuses a domain this often in a row does not support it. */
const REFUSALS_MAX = 3;
/** Signals from URCs are reported if they differ by at least this. */
const SIGNAL_STEP_DBM = 6;
/** <n>: with the reject cause, with the location, without either (3GPP TS 27.007 §7.2). */
const URC_LEVELS = [3, 2, 1];

/** The values of a slot that the watch reports. */
interface NetworkReport {
  readonly state?: Service['state'];
  readonly reason?: string | null;
  readonly signal_dbm?: number | null;
  readonly operator?: string | null;
}

/** The parts that the watch uses. */
interface NetworkWatchParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly profile: ModemProfile;
  readonly report: (report: NetworkReport) => void;
}

/** Watches one network, with background commands only. */
export class NetworkWatch {
  readonly #parts: NetworkWatchParts;
  /** Number of refusals of each domain since its last answer. */
  readonly #refusals = new Map<RegistrationDomain, number>();
  #registration: Registration = {};
  /** The text of AT+CEER for this denial; `undefined` if the modem was not asked. */
  #ceerText: string | undefined;
  #signalDbm: number | null = null;
  #operatorAt = Number.NEGATIVE_INFINITY;
  #operatorTimer: Timer | undefined;
  #withoutServiceSince: number | undefined;
  #hasServed = false;
  #stopped = false;

  constructor(parts: NetworkWatchParts) {
    this.#parts = parts;
  }

  get isRegistered(): boolean {
    return this.#service.state === 'registered';
  }

  /** Whether any network has served the SIM since the watch began. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /**
   * Time in ms for which no network has served the SIM; 0 while one does, or if no recovery of the modem can
   * help.
   */
  get withoutServiceMs(): number {
    if (this.#withoutServiceSince === undefined || this.#service.isHopeless) return 0;
    return this.#parts.clock.now() - this.#withoutServiceSince;
  }

  get #service(): Service {
    return serviceOf(this.#registration, this.#ceerText);
  }

  /** Turns on the URCs of each domain that the modem supports. */
  async setUp(): Promise<void> {
    const { channel, profile } = this.#parts;
    for (const domain of profile.registration) {
      for (const level of URC_LEVELS) {
        if ((await ask(channel, atCommand(`AT+${domain}=${level}`))) !== undefined) break;
      }
    }
  }

  /** Handles a line. Returns false if it does not concern the network. */
  onUrc(line: string): boolean {
    const registration = parseRegistration(line);
    if (registration !== undefined) {
      this.#onRegistration(registration);
      return true;
    }
    const { networkChanged, signal } = this.#parts.profile.urcs;
    for (const { match, scale } of signal) {
      const value = match.exec(line)?.[1];
      if (value === undefined) continue;
      this.#onSignal(dbmOf(Number(value), scale));
      return true;
    }
    if (networkChanged?.test(line) !== true) return false;
    this.#askOperatorSoon();
    return true;
  }

  /** Polls all values. Rejects with `AtTimeoutError` and `PortClosedError`. */
  async poll(): Promise<void> {
    for (const domain of this.#parts.profile.registration) await this.#askDomain(domain);
    if (this.#service.state === 'denied') this.#ceerText ??= await this.#askWhy();
    this.#signalDbm = await this.#askSignal();
    this.#reportService({ signal_dbm: this.#signalDbm });
    if (this.isRegistered && this.#parts.clock.now() - this.#operatorAt >= OPERATOR_POLL_MS) {
      await this.#askOperator();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#operatorTimer?.cancel();
  }

  #onRegistration(reported: Registration): void {
    const before = this.#registration;
    this.#registration = { ...before, ...reported };
    this.#reportService();
    const moved = Object.entries(reported).some(
      ([domain, { place }]) => before[domain as RegistrationDomain]?.place !== place,
    );
    if (moved && this.isRegistered) this.#askOperatorSoon();
  }

  #onSignal(signalDbm: number | null): void {
    const before = this.#signalDbm;
    const isSame = before !== null && signalDbm !== null && Math.abs(before - signalDbm) < SIGNAL_STEP_DBM;
    if (isSame || signalDbm === before) return;
    this.#signalDbm = signalDbm;
    this.#parts.report({ signal_dbm: signalDbm });
  }

  #reportService(more: NetworkReport = {}): void {
    const { state, reason } = this.#service;
    this.#hasServed ||= state === 'registered';
    if (state === 'registered') this.#withoutServiceSince = undefined;
    else this.#withoutServiceSince ??= this.#parts.clock.now();
    if (state !== 'denied') this.#ceerText = undefined;
    if (state !== 'registered') this.#operatorAt = Number.NEGATIVE_INFINITY;
    this.#parts.report({ state, reason, ...(state === 'registered' ? {} : { operator: null }), ...more });
  }

  /** Reads a registration. A URC that comes meanwhile counts. An occasional refusal changes nothing. */
  async #askDomain(domain: RegistrationDomain): Promise<void> {
    const refusals = this.#refusals.get(domain) ?? 0;
    if (refusals >= REFUSALS_MAX) return;
    const command = atCommand(`AT+${domain}?`, {
      answer: REGISTRATION_ANSWER,
      answerRequired: true,
      answerSingle: true,
    });
    const lines = await ask(this.#parts.channel, command, 'background');
    if (lines === undefined) {
      this.#refusals.set(domain, refusals + 1);
      const { [domain]: _forgotten, ...others } = this.#registration;
      if (refusals + 1 >= REFUSALS_MAX) this.#registration = others;
      return;
    }
    this.#refusals.delete(domain);
    this.#registration = { ...this.#registration, ...parseRegistration(lines[0] ?? '') };
  }

  async #askWhy(): Promise<string> {
    const command = atCommand('AT+CEER', { answer: /^\+CEER:/ });
    return (await ask(this.#parts.channel, command, 'background'))?.[0] ?? '';
  }

  /** If +CSQ has no value, as on LTE only, +CESQ may have one. */
  async #askSignal(): Promise<number | null> {
    const { channel } = this.#parts;
    const [line = ''] = (await ask(channel, atQuery('AT+CSQ', '+CSQ:'), 'background')) ?? [];
    const signalDbm = signalOf(line);
    if (signalDbm !== null || integerField(fieldsOf(line), 0) === undefined) return signalDbm;
    const [extended = ''] = (await ask(channel, atQuery('AT+CESQ', '+CESQ:'), 'background')) ?? [];
    return extendedSignalOf(extended);
  }

  #askOperatorSoon(): void {
    this.#operatorTimer?.cancel();
    if (this.#stopped) return;
    // The session notices when the modem does not answer.
    this.#operatorTimer = this.#parts.clock.after(OPERATOR_AFTER_MS, () => {
      this.#askOperator().catch(() => undefined);
    });
  }

  async #askOperator(): Promise<void> {
    const { channel, clock, report } = this.#parts;
    const [line = ''] = (await ask(channel, atQuery('AT+COPS?', '+COPS:'), 'background')) ?? [];
    this.#operatorAt = clock.now();
    report({ operator: operatorOf(line) });
  }
}
