// One call as its modem sees it: an entry of +CLCC (3GPP TS 27.007 §7.18), and its leg in the network.
import type { Call, Side } from '../calls/call.ts';
import type { CallEnd, CallLeg } from '../calls/call-leg.ts';
import { LegAudio } from '../calls/leg-audio.ts';

/** <stat>. */
export const STAT = { active: 0, dialling: 2, alerting: 3, incoming: 4, waiting: 5 } as const;
type Stat = (typeof STAT)[keyof typeof STAT];

/** 3GPP TS 24.008 §10.5.4.7: international, national or unknown, and no number at all. */
const TYPE_INTERNATIONAL = 145;
const TYPE_UNKNOWN = 129;
const TYPE_NONE = 128;

/** The fields of a call that lines report. */
export interface ShownCall {
  /** <id>, from 1. */
  readonly index: number;
  /** 0: the modem calls. 1: it is called. */
  readonly direction: 0 | 1;
  readonly stat: Stat;
  /** Empty when withheld. */
  readonly number: string;
  readonly numberType: number;
  /** Since it was answered. */
  readonly durationS: number;
}

/** The owner of a call, which gets its events. */
export interface ModemCallOwner {
  readonly imei: string;
  onAlerting(call: ModemCall): void;
  onAnswered(call: ModemCall): void;
  onEnded(call: ModemCall, end: CallEnd): void;
  onDtmf(digit: string): void;
}

/** Until `onEnded`. */
export class ModemCall implements CallLeg, ShownCall {
  readonly index: number;
  readonly direction: 0 | 1;
  readonly number: string;
  readonly audio = new LegAudio();
  readonly voice = undefined;
  stat: Stat;
  /** The call in the network; `undefined` for the fault `dial_stuck`. */
  network: Call | undefined;
  readonly #owner: ModemCallOwner;

  constructor(
    owner: ModemCallOwner,
    { index, direction, number, stat }: Pick<ShownCall, 'index' | 'direction' | 'number' | 'stat'>,
  ) {
    this.#owner = owner;
    this.index = index;
    this.direction = direction;
    this.number = number;
    this.stat = stat;
  }

  get imei(): string {
    return this.#owner.imei;
  }

  get side(): Side {
    return this.direction === 0 ? 'origin' : 'destination';
  }

  get numberType(): number {
    if (this.number === '') return TYPE_NONE;
    return this.number.startsWith('+') ? TYPE_INTERNATIONAL : TYPE_UNKNOWN;
  }

  get durationS(): number {
    return this.network?.durationS ?? 0;
  }

  /** This side ends it. */
  end(cause: number): void {
    if (this.network !== undefined) this.network.end(this.side, cause);
    else this.onEnded({ by: this.side, cause, isOwn: true });
  }

  onAlerting(): void {
    this.#owner.onAlerting(this);
  }

  onAnswered(): void {
    this.#owner.onAnswered(this);
  }

  onEnded(end: CallEnd): void {
    this.#owner.onEnded(this, end);
  }

  onDtmf(digit: string): void {
    this.#owner.onDtmf(digit);
  }
}

/** `+CLCC:` of a call: voice, not in a conference. */
export function clccLine({ index, direction, stat, number, numberType }: ShownCall): string {
  return `+CLCC: ${index},${direction},${stat},0,0,"${number}",${numberType}`;
}
