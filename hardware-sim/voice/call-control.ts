// The calls of one modem: dialing, answering and ending them, and the lines about them.
import type { Clock } from '#shared/clock.ts';
import { type Answer, CME, cme, ok } from '../at/answer.ts';
import type { ModemSettings } from '../at/settings.ts';
import type { Call } from '../calls/call.ts';
import type { CallEnd } from '../calls/call-leg.ts';
import type { CallSwitch, VoiceSubscriber } from '../calls/call-switch.ts';
import { CAUSE, finalResultOf } from '../calls/cause.ts';
import { e164Of } from '../carrier/numbering.ts';
import type { FaultSet } from '../faults/fault-set.ts';
import type { DialString } from './dial-string.ts';
import type { CallChange, MakeVoice } from './make-voice.ts';
import { ModemCall, type ModemCallOwner, STAT } from './modem-call.ts';
import { Ringer } from './ringer.ts';

export interface CallControlOptions {
  imei: string;
  make: MakeVoice;
  network: CallSwitch;
  clock: Clock;
  faults: FaultSet;
  settings: () => ModemSettings;
  /** Number of the card. */
  number: () => string;
  /** Calls can be made and taken. */
  isInService: () => boolean;
  /** The time of the network, in milliseconds since the epoch. */
  now: () => number;
  ringIntervalMs: number;
  /** `isUrgent`: in front of the answer that is being given. */
  sendUrc: (line: string, options?: { isUrgent: boolean }) => void;
  /** Another call is the active one now, or none is. */
  onActiveChanged: (active: ModemCall | undefined) => void;
}

/** At most one active call, and one that waits. */
export class CallControl implements VoiceSubscriber, ModemCallOwner {
  readonly imei: string;
  readonly #options: CallControlOptions;
  readonly #ringer: Ringer;
  #calls: ModemCall[] = [];
  #active: ModemCall | undefined;
  #lastEnd: CallEnd | undefined;
  /** Answers of ATD that wait for the outcome of the call. */
  readonly #pending = new Map<ModemCall, (answer: Answer) => void>();
  /** The modem has no power and sends no lines. */
  #isMute = false;

  constructor(options: CallControlOptions) {
    this.#options = options;
    this.imei = options.imei;
    const { clock, faults, settings, sendUrc, ringIntervalMs } = options;
    this.#ringer = new Ringer({ clock, faults, settings, sendUrc, intervalMs: ringIntervalMs });
  }

  /** As +CLCC lists them. */
  get calls(): readonly ModemCall[] {
    return this.#calls;
  }

  get active(): ModemCall | undefined {
    return this.#active;
  }

  /** Why the last call ended; `undefined` before there was one. */
  get lastEnd(): CallEnd | undefined {
    return this.#lastEnd;
  }

  /** ATD. The answer comes at once, or with +COLP when the call is answered. */
  dial({ number, hidesNumber }: DialString): Answer | Promise<Answer> {
    const { faults, settings, network } = this.#options;
    if (this.#calls.length > 0) return cme(CME.operationNotAllowed);
    const call = new ModemCall(this, { index: 1, direction: 0, number, stat: STAT.dialling });
    this.#calls.push(call);
    this.#lastEnd = undefined;
    if (faults.take('dial_stuck') === undefined) {
      const isHidden = hidesNumber ?? settings().kept.get('+CLIR') === '1';
      call.network = network.dial(isHidden ? null : this.#options.number(), e164Of(number), call);
    }
    const waits = settings().kept.get('+COLP') === '1' || faults.take('connect_early') !== undefined;
    this.#reportChange('dialling', call, { isUrgent: waits });
    return waits ? new Promise((resolve) => this.#pending.set(call, resolve)) : ok();
  }

  /** ATA. Returns false without an incoming call. */
  answer(): boolean {
    const call = this.#calls.find(({ stat }) => stat === STAT.incoming);
    call?.network?.answer();
    return call !== undefined;
  }

  /** Ends all calls, or that with an index. False when there is no such call. */
  hangUp({ cause, index }: { cause?: number; index?: number } = {}): boolean {
    const chosen = this.#calls.filter((call) => index === undefined || call.index === index);
    for (const call of chosen) {
      const isRefusal = call.stat === STAT.incoming || call.stat === STAT.waiting;
      call.end(cause ?? (isRefusal ? CAUSE.callRejected : CAUSE.normalClearing));
    }
    return chosen.length > 0;
  }

  /** +CHLD=0: rejects the waiting call as busy. Returns false without one. */
  refuseWaiting(): boolean {
    const waiting = this.#calls.find(({ stat }) => stat === STAT.waiting);
    waiting?.end(CAUSE.userBusy);
    return waiting !== undefined;
  }

  /** +CHLD=1: ends the active call and answers the waiting one. Returns false without a waiting one. */
  takeWaiting(): boolean {
    const waiting = this.#calls.find(({ stat }) => stat === STAT.waiting);
    this.#active?.end(CAUSE.normalClearing);
    waiting?.network?.answer();
    return waiting !== undefined;
  }

  /** As `VoiceSubscriber.offer`. */
  offer(network: Call): ModemCall | 'busy' | 'absent' {
    const { isInService, settings } = this.#options;
    if (!isInService()) return 'absent';
    const waits = this.#calls.length > 0;
    if (waits && !this.#canWait()) return 'busy';
    const call = new ModemCall(this, {
      index: this.#calls.some(({ index }) => index === 1) ? 2 : 1,
      direction: 1,
      number: network.from ?? '',
      stat: waits ? STAT.waiting : STAT.incoming,
    });
    call.network = network;
    network.connect('destination', call);
    this.#calls.push(call);
    network.alert();
    if (!waits) this.#startRinging(call);
    else {
      if (settings().kept.get('+CCWA n') === '1') {
        this.#options.sendUrc(`+CCWA: "${call.number}",${call.numberType},1`);
      }
      this.#reportChange('waiting', call);
    }
    return call;
  }

  /**
   * Ends all calls: the modem lost its power, its card or its network. Without `isReported` it sends no lines.
   */
  drop({ isReported }: { isReported: boolean }): void {
    this.#isMute = !isReported;
    for (const call of [...this.#calls]) {
      if (call.network === undefined) call.end(CAUSE.destinationOutOfOrder);
      else call.network.end('network', CAUSE.destinationOutOfOrder);
    }
    this.#isMute = false;
  }

  onAlerting(call: ModemCall): void {
    call.stat = STAT.alerting;
    this.#reportChange('alerting', call);
  }

  onAnswered(call: ModemCall): void {
    this.#ringer.stop();
    call.stat = STAT.active;
    this.#setActive(call);
    const isUrgent = call.direction === 1 && this.#options.make.connectsBeforeOk;
    this.#reportChange('answered', call, { isUrgent });
    const showsNumber = this.#options.settings().kept.get('+COLP') === '1';
    const connected = `+COLP: "${call.number}",${call.numberType}`;
    this.#answerDial(call, showsNumber ? ok(connected) : ok());
  }

  onEnded(call: ModemCall, end: CallEnd): void {
    const wasAnswered = call.stat === STAT.active;
    const wasRinging = call.stat === STAT.incoming;
    this.#calls = this.#calls.filter((other) => other !== call);
    this.#lastEnd = end;
    if (wasRinging) this.#ringer.stop();
    if (this.#active === call) this.#setActive(undefined);
    const isReported = this.#isMute || this.#options.faults.take('call_end_lost') === undefined;
    if (isReported) this.#reportEnd(call, end, wasAnswered);
    else this.#answerDial(call, { kind: 'nothing' });
    const waiting = this.#calls.find(({ stat }) => stat === STAT.waiting);
    if (waiting === undefined || this.#calls.length > 1) return;
    waiting.stat = STAT.incoming;
    if (!this.#isMute) this.#startRinging(waiting);
  }

  onDtmf(digit: string): void {
    const line = this.#options.make.detectedKey(digit, this.#options.settings());
    if (line !== undefined) this.#options.sendUrc(line);
  }

  #canWait(): boolean {
    const { kept } = this.#options.settings();
    return kept.get('+CCWA mode') === '1' && this.#calls.length === 1 && this.#active !== undefined;
  }

  #startRinging(call: ModemCall): void {
    this.#ringer.start(call);
    this.#reportChange('incoming', call);
  }

  /** V.250 §6.3.1: the final result code is the answer of ATD, or comes by itself when that is out. */
  #reportEnd(call: ModemCall, end: CallEnd, wasAnswered: boolean): void {
    this.#reportChange('ended', call, { end });
    const result = finalResultOf(end.cause, wasAnswered);
    if (this.#answerDial(call, { kind: 'result', code: result })) return;
    if (this.#isMute || end.isOwn) return;
    this.#options.sendUrc(call.direction === 1 ? 'NO CARRIER' : result);
    if (call.direction === 0 || wasAnswered) return;
    for (const line of this.#options.make.missedLines(call, this.#options.now())) this.#options.sendUrc(line);
  }

  #reportChange(
    change: CallChange,
    call: ModemCall,
    options: { end?: CallEnd; isUrgent?: boolean } = {},
  ): void {
    if (this.#isMute) return;
    const { end, isUrgent = false } = options;
    const { make, settings, sendUrc } = this.#options;
    const lines = make.lines(change, call, { settings: settings(), ...(end === undefined ? {} : { end }) });
    for (const line of lines) sendUrc(line, { isUrgent });
  }

  #setActive(call: ModemCall | undefined): void {
    this.#active = call;
    this.#options.onActiveChanged(call);
  }

  #answerDial(call: ModemCall, answer: Answer): boolean {
    const resolve = this.#pending.get(call);
    this.#pending.delete(call);
    resolve?.(answer);
    return resolve !== undefined;
  }
}
