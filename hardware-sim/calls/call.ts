// One call in the network: its two sides, its states with their times, its voice.
import { Lane } from '../audio/sample-queue.ts';
import type { AirEventKind, Publish } from '../state/event-feed.ts';
import type { CallEnd, CallLeg, EndedBy } from './call-leg.ts';
import { type KeyPress, KeyTones } from './key-tones.ts';

/** `dialling` until the other side rings or answers. */
type CallState = 'dialling' | 'alerting' | 'answered' | 'ended';
/** A side of a call. */
export type Side = 'origin' | 'destination';

interface CallOptions {
  id: number;
  /** Null when withheld. */
  from: string | null;
  to: string;
  /** Milliseconds since the epoch, with fractions. */
  now: () => number;
  publish: Publish;
}

/** Dialing from the start. All its actions do nothing once it has ended. */
export class Call {
  readonly id: number;
  readonly from: string | null;
  readonly to: string;
  readonly #options: CallOptions;
  readonly #legs: Partial<Record<Side, CallLeg>> = {};
  readonly #keys: Record<Side, KeyTones>;
  /** Voice for a modem from another modem. */
  readonly #lanes: Record<Side, Lane> = { origin: new Lane(), destination: new Lane() };
  #state: CallState = 'dialling';
  readonly #times: Record<CallState, number | null>;
  readonly #whenEnded = new Set<() => void>();
  #end: { cause: number; by: EndedBy } | undefined;

  constructor(options: CallOptions) {
    this.id = options.id;
    this.from = options.from;
    this.to = options.to;
    this.#options = options;
    this.#times = { dialling: options.now(), alerting: null, answered: null, ended: null };
    const keysOf = (side: Side): KeyTones => new KeyTones((press) => this.#onPressed(side, press));
    this.#keys = { origin: keysOf('origin'), destination: keysOf('destination') };
  }

  /** Q.850; `undefined` as long as it goes on. */
  get cause(): number | undefined {
    return this.#end?.cause;
  }

  /** Calls `listener` once, when the call ends. Returns a function that removes the listener. */
  whenEnded(callback: () => void): () => void {
    this.#whenEnded.add(callback);
    return () => this.#whenEnded.delete(callback);
  }

  get state(): CallState {
    return this.#state;
  }

  /** Whole seconds since it was answered; 0 if it never was. */
  get durationS(): number {
    const { answered, ended } = this.#times;
    return answered === null ? 0 : Math.floor(((ended ?? this.#options.now()) - answered) / 1000);
  }

  leg(side: Side): CallLeg | undefined {
    return this.#legs[side];
  }

  connect(side: Side, leg: CallLeg): void {
    this.#legs[side] = leg;
  }

  /** Publishes the start of the call. */
  begin(): void {
    this.#publishEvent('call_dialling');
  }

  alert(): void {
    if (this.#state !== 'dialling') return;
    this.#enter('alerting');
    this.#publishEvent('call_alerting');
    this.#legs.origin?.onAlerting();
  }

  answer(): void {
    if (this.#state === 'answered' || this.#state === 'ended') return;
    this.#enter('answered');
    this.#publishEvent('call_answered');
    this.#legs.destination?.onAnswered();
    this.#legs.origin?.onAnswered();
  }

  end(by: EndedBy, cause: number): void {
    if (this.#state === 'ended') return;
    this.#enter('ended');
    this.#end = { by, cause };
    this.#publishEvent('call_ended', { cause, ended_by: by, duration_ms: this.#durationMs });
    for (const callback of [...this.#whenEnded]) callback();
    for (const side of ['destination', 'origin'] as const) {
      const end: CallEnd = { by, cause, isOwn: by === side };
      this.#legs[side]?.onEnded(end);
    }
  }

  /** A side presses keys; false when it cannot. */
  press(side: Side, keys: readonly KeyPress[]): boolean {
    return this.#state === 'answered' && this.#keys[side].press(keys);
  }

  /** Exchanges one frame between a modem and the network, once for each frame of the modem's clock. */
  exchange(side: Side, spoken: Int16Array): Int16Array {
    const otherSide = side === 'origin' ? 'destination' : 'origin';
    const said = this.#keys[side].over(spoken);
    const far = this.#legs[otherSide]?.voice;
    if (far !== undefined) return this.#keys[otherSide].over(far.exchange(said));
    this.#lanes[otherSide].push(said);
    return this.#lanes[side].take();
  }

  /** Drops the frames of its legs. */
  forgetFrames(): void {
    for (const leg of Object.values(this.#legs)) leg.audio?.forgetFrames();
  }

  /** As `GET /calls/{id}` shows it. */
  view(): Record<string, unknown> {
    const { dialling, alerting, answered, ended } = this.#times;
    return {
      ...this.#names(),
      state: this.#state,
      dialling_at_ms: dialling,
      alerting_at_ms: alerting,
      answered_at_ms: answered,
      ended_at_ms: ended,
      duration_ms: this.#durationMs,
      cause: this.#end?.cause ?? null,
      ended_by: this.#end?.by ?? null,
      origin: this.#sideView('origin'),
      destination: this.#sideView('destination'),
    };
  }

  get #durationMs(): number {
    const { answered, ended } = this.#times;
    return answered === null ? 0 : (ended ?? this.#options.now()) - answered;
  }

  #sideView(side: Side): Record<string, unknown> {
    const leg = this.#legs[side];
    return {
      imei: leg?.imei ?? null,
      ...(leg?.audio === undefined ? {} : { audio: { ...leg.audio.view(), slips: this.#lanes[side].slips } }),
      ...(leg?.voice === undefined ? {} : { far_end: leg.voice.view() }),
    };
  }

  #names(): Record<string, unknown> {
    const { origin, destination } = this.#legs;
    return {
      id: this.id,
      from: this.from,
      to: this.to,
      origin_imei: origin?.imei ?? null,
      destination_imei: destination?.imei ?? null,
    };
  }

  #enter(state: CallState): void {
    this.#state = state;
    this.#times[state] = this.#options.now();
  }

  #onPressed(side: Side, { digit }: KeyPress): void {
    this.#publishEvent('dtmf', { by: side, digit });
    this.#legs[side === 'origin' ? 'destination' : 'origin']?.onDtmf(digit);
  }

  #publishEvent(kind: AirEventKind, data: Record<string, unknown> = {}): void {
    this.#options.publish(kind, { ...this.#names(), ...data, at_ms: this.#options.now() });
  }
}
