// The switch of the carrier: connects modems with each other and with far ends, and keeps a record of every call.
import type { Clock, Timer } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import type { Logger } from '#shared/log.ts';
import { BoundedLog } from '../state/bounded-log.ts';
import type { Publish } from '../state/event-feed.ts';
import { Call, type Side } from './call.ts';
import type { CallLeg } from './call-leg.ts';
import { CAUSE } from './cause.ts';
import { FarEnd } from './far-end.ts';
import { type FarEndSettings, USUAL_FAR_END } from './far-end-settings.ts';

/** Most numbers that can have settings. */
const FAR_ENDS_MAX = 10_000;

/** Calls whose frames are kept: half a megabyte each. */
const CALLS_WITH_FRAMES = 32;

/** The calls of a modem, as the switch uses them. */
export interface VoiceSubscriber {
  /** Offers a call. Returns the leg that rings or waits, or the reason that there is none. */
  offer(call: Call): CallLeg | 'busy' | 'absent';
}

/** A call that cannot be made. */
export class CallRefused extends Error {
  override name = 'CallRefused';
  readonly code: 'unknown_number' | 'line_busy' | 'unreachable' | 'invalid_wav' | 'too_many_subscribers';

  constructor(code: CallRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

interface CallSwitchOptions {
  clock: Clock;
  /** Milliseconds since the epoch, with fractions. */
  now: () => number;
  log: Logger;
  publish: Publish;
  /** Records that are kept. */
  keep: number;
  /** How long a modem rings before the network gives up. */
  noAnswerMs: number;
  /** The modem that has a number: `undefined` for a far end, null for a card that is in no modem. */
  subscriberOf: (number: string) => VoiceSubscriber | null | undefined;
}

export class CallSwitch {
  readonly #options: CallSwitchOptions;
  readonly #calls: BoundedLog<Call>;
  readonly #farEnds = new Map<string, FarEndSettings>();
  readonly #ringing = new Map<number, Timer>();
  #withFrames: Call[] = [];
  #lastId = 0;

  constructor(options: CallSwitchOptions) {
    this.#options = options;
    this.#calls = new BoundedLog(options.keep);
  }

  /** Calls in progress and ended calls, oldest first. */
  get calls(): Call[] {
    return this.#calls.values();
  }

  get(id: number): Call | undefined {
    return this.#calls.after(id - 1, 1).find((call) => call.id === id);
  }

  /** Settings of a far end; `USUAL_FAR_END` for a number without settings. */
  farEnd(number: string): FarEndSettings {
    return this.#farEnds.get(number) ?? USUAL_FAR_END;
  }

  /** Changes the settings for future calls. Throws `CallRefused`. */
  setFarEnd(number: string, settings: FarEndSettings): void {
    if (!this.#farEnds.has(number) && this.#farEnds.size >= FAR_ENDS_MAX) {
      throw new CallRefused('too_many_subscribers', `${FAR_ENDS_MAX} numbers have settings already`);
    }
    this.#farEnds.set(number, settings);
  }

  /** Places a call from a modem. The switch reports its progress to the leg, never before this method returns. */
  dial(from: string | null, to: string, origin: CallLeg): Call {
    const call = this.#newCall(from, to);
    call.connect('origin', origin);
    call.begin();
    this.#options.clock.after(0, () => {
      if (call.state !== 'ended') this.#route(call, this.farEnd(to));
    });
    return call;
  }

  /**
   * Calls a modem from a far end. On return the modem rings, for `ringMs` if given. Throws `CallRefused` when it
   * does not ring.
   */
  ring(from: string | null, to: string, options: { farEnd?: FarEndSettings; ringMs?: number } = {}): Call {
    const { subscriberOf } = this.#options;
    if (subscriberOf(to) === undefined) {
      throw new CallRefused('unknown_number', `no modem has the number ${to}`);
    }
    const call = this.#newCall(from, to);
    const settings = options.farEnd ?? this.farEnd(from ?? '');
    call.begin();
    call.connect('origin', this.#farEndOf(call, 'origin', settings));
    this.#route(call, settings, options.ringMs);
    if (call.cause === CAUSE.userBusy) throw new CallRefused('line_busy', `${to} is busy`);
    if (call.state === 'ended') throw new CallRefused('unreachable', `${to} cannot be reached`);
    return call;
  }

  /** Ends all calls. */
  close(): void {
    for (const call of this.calls) call.end('network', CAUSE.normalUnspecified);
  }

  #newCall(from: string | null, to: string): Call {
    this.#lastId += 1;
    const id = this.#lastId;
    const { now, publish } = this.#options;
    const call = new Call({ id, from, to, now, publish });
    call.whenEnded(() => this.#stopRinging(id));
    this.#calls.push(call);
    this.#forgetFrames(call);
    return call;
  }

  /** Drops the frames of the oldest call that has any, once it has ended. */
  #forgetFrames(latest: Call): void {
    this.#withFrames.push(latest);
    const oldest = this.#withFrames.length > CALLS_WITH_FRAMES ? this.#withFrames.shift() : undefined;
    if (oldest?.state === 'ended') oldest.forgetFrames();
    else oldest?.whenEnded(() => oldest.forgetFrames());
  }

  #route(call: Call, farEnd: FarEndSettings, ringMs?: number): void {
    const { subscriberOf, noAnswerMs, log } = this.#options;
    const subscriber = subscriberOf(call.to);
    if (subscriber === undefined) {
      try {
        const leg = this.#farEndOf(call, 'destination', farEnd);
        call.connect('destination', leg);
        leg.start();
      } catch (error) {
        log.warn({ err: error, call: call.id }, 'a modem is needed at one end of the call');
      }
      return;
    }
    const leg = subscriber?.offer(call) ?? 'absent';
    if (leg === 'busy') call.end('destination', CAUSE.userBusy);
    else if (leg === 'absent') call.end('network', CAUSE.subscriberAbsent);
    else this.#letRing(call, ringMs ?? noAnswerMs);
  }

  /** Ends the call and throws `CallRefused` for a far end that cannot play or record what it should. */
  #farEndOf(call: Call, side: Side, settings: FarEndSettings): FarEnd {
    const { clock, now } = this.#options;
    try {
      return new FarEnd({ call, side, settings, clock, now });
    } catch (error) {
      call.end('network', CAUSE.destinationOutOfOrder);
      throw new CallRefused('invalid_wav', messageOf(error));
    }
  }

  #letRing(call: Call, ringMs: number): void {
    if (call.state === 'ended' || call.state === 'answered') return;
    const giveUp = (): void => {
      if (call.state !== 'answered') call.end('network', CAUSE.noAnswer);
    };
    this.#ringing.set(call.id, this.#options.clock.after(ringMs, giveUp));
  }

  #stopRinging(id: number): void {
    this.#ringing.get(id)?.cancel();
    this.#ringing.delete(id);
  }
}
