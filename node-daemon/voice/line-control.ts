// Controls the line of one SIM: dials, answers, hangs up, and follows its one call until the modem reports its end.
import type { Clock, Timer } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { Logger } from '#shared/log.ts';
import type { DialOutcome } from '#shared/voice/call.ts';
import { CAUSE, type EndReason, reasonOfCause } from '#shared/voice/release-cause.ts';
import { AtError, CallFailedError, isUnanswered } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { type CallEvent, commonCallEvent } from '../profiles/call-event.ts';
import type { MakeVoice } from '../profiles/profile.ts';
import { askCause, endLeftCalls, hangUpAll, listCalls } from './call-list.ts';
import { dialString } from './dial-string.ts';
import { KeyPresser } from './key-presser.ts';
import { isNextCaller, type LineCall, nextCall, nextCallOfList, type Step } from './state/line-state.ts';

/** Modems send the caller's number with the first ring or with the second. The line does not wait for the second. */
const CALLER_WAIT_MS = 100;
/** Intervals of reading the call list, because lines about calls get lost and some makes send none. */
const WATCH_SETTING_UP_MS = 700;
const WATCH_ACTIVE_MS = 5_000;
/** Longest time from dialing to the first ring. Networks give up earlier. */
const SET_UP_MAX_MS = 90_000;
/** An unanswered call in either direction ends after this time if the network does not end it. */
const RINGING_MAX_MS = 180_000;

/** ITU-T Q.850 causes of calls that the daemon ended, except ordinary ends. */
const CAUSE_OF_OUR_END: Partial<Record<EndReason, number>> = {
  rejected: CAUSE.callRejected,
  no_answer: CAUSE.noAnswer,
  modem_lost: CAUSE.temporaryFailure,
};

/** Causes of result codes. AT+CEER gives the others (3GPP TS 27.007 §6.10). */
const CAUSE_OF_FAILURE: Readonly<Record<string, number>> = {
  BUSY: CAUSE.userBusy,
  'NO ANSWER': CAUSE.noAnswer,
};

/** The end of a call. */
export interface CallEnd {
  readonly reason: EndReason;
  /** ITU-T Q.850. */
  readonly cause: number;
}

/** Gets the events of a line's call. */
interface LineObserver {
  /**
   * Called when the call begins or changes. An incoming call is reported when its caller is known, or shortly later if the modem does not
   * send the caller.
   */
  onCall(call: LineCall): void;
  onEnd(end: CallEnd): void;
  onDigit(digit: string): void;
  /** Called when the modem pauses its audio input or continues. */
  onAudioFlow(isPaused: boolean): void;
}

/** The parts that a line uses. */
interface LineControlParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly voice: MakeVoice;
  readonly isRegistered: () => boolean;
  /** Turns the audio of a call on and off. */
  readonly audioSwitch: { on(moment: 'dialing' | 'answer'): Promise<void>; off(): Promise<void> };
  readonly observer: LineObserver;
}

export class LineControl {
  readonly #parts: LineControlParts;
  #call: LineCall | undefined;
  /** Counts calls, so that answers about an earlier call do not affect this one. */
  #generation = 0;
  /** The reason for which the daemon ends the call; undefined before. */
  #ending: EndReason | undefined;
  #isReported = false;
  /** Whether the modem has accepted the number. Earlier lines about a release belong to an earlier call. */
  #isDialled = false;
  #callerTimer: Timer | undefined;
  #watchTimer: Timer | undefined;
  #limitTimer: Timer | undefined;
  #keys: KeyPresser | undefined;
  #onStep: (() => void) | undefined;
  #lastEnd: CallEnd = { reason: 'network_failure', cause: CAUSE.temporaryFailure };
  /** Whether the modem supports the list of calls. */
  #hasList = false;
  #refusesCalls = false;
  #isClosed = false;

  constructor(parts: LineControlParts) {
    this.#parts = parts;
    parts.channel.onUrc(({ line }) => {
      const event = parts.voice.event(line) ?? commonCallEvent(line);
      if (event !== undefined) this.#take(event);
    });
  }

  get isBusy(): boolean {
    return this.#call !== undefined;
  }

  /** As `endLeftCalls`. */
  clear(): Promise<boolean> {
    const { channel, clock, log } = this.#parts;
    return endLeftCalls(channel, clock, log);
  }

  /** Places a call. Resolves when the far end rings, answers, or the call fails. Rejects with `CommandRefusal` if it was not dialed. */
  async dial(to: string): Promise<DialOutcome> {
    const { channel, isRegistered } = this.#parts;
    const number = dialString(to);
    if (number === undefined) throw new CommandRefusal('params_invalid', 'This number must not be dialed.');
    this.#checkAccepts();
    if (this.#isClosed || !isRegistered())
      throw new CommandRefusal('slot_unavailable', 'The SIM is not registered.');
    if (this.#call !== undefined) throw new CommandRefusal('line_busy', 'The line has a call.');
    const generation = this.#begin({ direction: 'outbound', state: 'dialing', peer: to });
    try {
      // Its ring is not read yet, or comes again.
      if (await this.clear()) await this.#end(CAUSE.temporaryFailure);
      if (this.#isCurrent(generation)) await this.#parts.audioSwitch.on('dialing');
      // The call was hung up meanwhile, and would have no owner.
      if (this.#isCurrent(generation) && this.#ending === undefined) {
        await channel.send(atCommand(`ATD${number}`, { endsLikeCall: true, shownAs: 'ATD' }), 'urgent');
        this.#isDialled = true;
      }
    } catch (error) {
      await this.#dialFailed(error, generation);
    }
    if (this.#isCurrent(generation)) this.#watch();
    return this.#setUp(generation);
  }

  /** Answers the ringing call. Rejects with `CommandRefusal` if it has ended. */
  async answer(): Promise<void> {
    const { audioSwitch, channel } = this.#parts;
    this.#checkAccepts();
    if (this.#call?.direction !== 'inbound' || this.#call.state !== 'ringing')
      throw new CommandRefusal('call_unknown', 'No call is ringing.');
    const generation = this.#generation;
    await audioSwitch.on('dialing');
    // Its caller gave up meanwhile, or it was hung up. Another one may ring.
    if (!this.#isCurrent(generation) || this.#ending !== undefined)
      throw new CommandRefusal('call_unknown', 'The call has ended.');
    try {
      await channel.send(atCommand('ATA', { endsLikeCall: true }), 'urgent');
    } catch (error) {
      if (!(error instanceof AtError)) throw error;
      void this.#readList(generation);
      throw new CommandRefusal('call_unknown', 'The modem could not answer the call.', { cause: error });
    }
    if (this.#isCurrent(generation)) this.#take({ kind: 'answered' });
  }

  /** Ends or rejects the call. Resolves when the modem has confirmed it. */
  async hangUp(reason: EndReason): Promise<void> {
    const call = this.#call;
    if (call === undefined) throw new CommandRefusal('call_unknown', 'The line has no call.');
    const generation = this.#generation;
    this.#ending ??= reason;
    await hangUpAll(this.#parts.channel, this.#parts.clock, (listed) => isNextCaller(call, listed));
    if (this.#isCurrent(generation)) await this.#end(CAUSE_OF_OUR_END[reason] ?? CAUSE.normalClearing);
  }

  /** Presses keys, one after the other. Returns false if too many wait, or if no call is active. */
  press(digits: string): boolean {
    if (this.#call?.state !== 'active') return false;
    this.#keys ??= new KeyPresser({ ...this.#parts, keyCommand: this.#parts.voice.keyCommand });
    return this.#keys.press(digits);
  }

  /** Refuses further dials and answers. The current call goes on. */
  refuseCalls(): void {
    this.#refusesCalls = true;
  }

  /** Call it at the end of the session, when the call has lost its modem. */
  close(): void {
    this.#isClosed = true;
    if (this.#call === undefined) return;
    this.#ending = 'modem_lost';
    this.#conclude(CAUSE.temporaryFailure);
  }

  #begin(call: LineCall): number {
    this.#call = call;
    this.#generation += 1;
    this.#ending = undefined;
    this.#isReported = false;
    this.#isDialled = false;
    this.#limit(call.state === 'dialing' ? SET_UP_MAX_MS : RINGING_MAX_MS);
    if (call.direction === 'outbound') this.#reportCall();
    else this.#watch();
    return this.#generation;
  }

  #checkAccepts(): void {
    if (this.#refusesCalls) throw new CommandRefusal('slot_unavailable', 'The modem is being stopped.');
  }

  #isCurrent(generation: number): boolean {
    return this.#call !== undefined && this.#generation === generation;
  }

  /** Waits for the first ring, the answer or the end. */
  async #setUp(generation: number): Promise<DialOutcome> {
    for (;;) {
      if (!this.#isCurrent(generation)) return { status: 'ended', ...this.#lastEnd };
      const state = this.#call?.state;
      if (state === 'ringing' || state === 'active') return { status: state };
      await new Promise<void>((resolve) => {
        this.#onStep = resolve;
      });
    }
  }

  async #dialFailed(error: unknown, generation: number): Promise<void> {
    const call = this.#call;
    if (call === undefined || !this.#isCurrent(generation)) return;
    if (!(error instanceof AtError)) throw error;
    const { channel, clock } = this.#parts;
    let cause: number | undefined = CAUSE.networkOutOfOrder;
    if (error instanceof CallFailedError)
      cause = CAUSE_OF_FAILURE[error.result] ?? (await askCause(channel)) ?? CAUSE.normalClearing;
    // It is unknown whether the number was dialed, or the line was about an earlier call, so all calls are ended. A modem that does not
    // hang up is set up again, and the call ends with its session.
    if (error instanceof CallFailedError || isUnanswered(error))
      await hangUpAll(channel, clock, (listed) => isNextCaller(call, listed)).catch((refusal) =>
        this.#warn(refusal, 'failed to hang up'),
      );
    if (this.#isCurrent(generation)) await this.#end(cause);
  }

  #take(event: CallEvent): void {
    if (event.kind === 'digit') this.#parts.observer.onDigit(event.digit);
    else if (event.kind === 'audioFlow') this.#parts.observer.onAudioFlow(event.isPaused);
    else if (event.kind === 'released') this.#onReleased(event.cause);
    else this.#step(nextCall(this.#call, event));
  }

  /**
   * Handles a line about the end of a call. It may come late, when the next call has begun, or for a second caller who gave up. The list
   * shows which call ended.
   */
  #onReleased(cause: number | undefined): void {
    if (this.#call?.direction === 'outbound' && !this.#isDialled) return;
    if (this.#call !== undefined) void this.#readList(this.#generation, { cause });
  }

  #step(step: Step): void {
    if ('ended' in step) {
      void this.#end(step.cause);
      return;
    }
    const { call } = step;
    const before = this.#call;
    if (call === undefined || call === before || this.#isClosed) return;
    if (before === undefined) {
      this.#begin(call);
      // Faster than to wait for the next ring, with which some modems send the caller.
      if (call.peer === undefined) void this.#readList(this.#generation);
    }
    this.#call = call;
    if (call.state === 'active' && before?.state !== 'active') {
      this.#limitTimer?.cancel();
      void this.#parts.audioSwitch
        .on('answer')
        .catch((error) => this.#warn(error, 'failed to turn audio on'));
    } else if (call.state === 'ringing' && before?.state === 'dialing') this.#limit(RINGING_MAX_MS);
    if (call.direction === 'inbound' && !this.#isReported && call.peer === undefined) {
      this.#callerTimer ??= this.#parts.clock.after(CALLER_WAIT_MS, () => this.#reportCall());
    } else this.#reportCall();
    this.#onStep?.();
  }

  #reportCall(): void {
    this.#callerTimer?.cancel();
    this.#callerTimer = undefined;
    if (this.#call === undefined) return;
    this.#isReported = true;
    this.#parts.observer.onCall(this.#call);
  }

  #limit(afterMs: number): void {
    this.#limitTimer?.cancel();
    this.#limitTimer = this.#parts.clock.after(afterMs, () => {
      void this.hangUp('no_answer').catch((error) => this.#warn(error, 'failed to end an unanswered call'));
    });
  }

  #watch(): void {
    this.#watchTimer?.cancel();
    const afterMs = this.#call?.state === 'active' ? WATCH_ACTIVE_MS : WATCH_SETTING_UP_MS;
    this.#watchTimer = this.#parts.clock.after(afterMs, () => void this.#readList(this.#generation));
  }

  /** Reads the list, which determines the state of the call. `released`: the modem reported an end. */
  async #readList(generation: number, released?: { cause: number | undefined }): Promise<void> {
    try {
      const list = await listCalls(this.#parts.channel);
      this.#hasList ||= list !== undefined;
      // A modem that answers with an error is busy, and its call goes on. One without a list is believed that a call has ended.
      const isKnown = list !== undefined || (released !== undefined && !this.#hasList);
      if (isKnown && this.#isCurrent(generation) && this.#ending === undefined) {
        const step = nextCallOfList(this.#call, list ?? []);
        this.#step('ended' in step ? { ended: true, cause: released?.cause } : step);
      }
    } catch (error) {
      this.#warn(error, 'failed to list calls');
    }
    if (this.#isCurrent(generation)) this.#watch();
  }

  /** Asks the modem for the cause if the line did not contain it, and ends the call. */
  async #end(reportedCause: number | undefined): Promise<void> {
    const generation = this.#generation;
    let cause = reportedCause;
    if (cause === undefined && this.#ending === undefined) cause = await askCause(this.#parts.channel);
    if (this.#isCurrent(generation)) this.#conclude(cause ?? CAUSE.normalClearing);
  }

  #conclude(cause: number): void {
    const call = this.#call;
    if (call === undefined) return;
    for (const timer of [this.#callerTimer, this.#watchTimer, this.#limitTimer]) timer?.cancel();
    this.#callerTimer = undefined;
    this.#call = undefined;
    this.#keys?.stop();
    this.#keys = undefined;
    this.#lastEnd = { reason: this.#ending ?? reasonOf(call, cause), cause };
    void this.#parts.audioSwitch.off().catch((error) => this.#warn(error, 'failed to turn audio off'));
    this.#parts.observer.onEnd(this.#lastEnd);
    this.#onStep?.();
  }

  #warn(error: unknown, what: string): void {
    if (!this.#isClosed) this.#parts.log.warn({ err: error }, what);
  }
}

function reasonOf({ direction, state }: LineCall, cause: number): EndReason {
  if (state === 'active') return reasonOfCause(cause, true);
  if (direction === 'inbound') return 'cancelled';
  // Ended normally before the called party answered: no credit, or barred.
  return cause === CAUSE.normalClearing ? 'network_failure' : reasonOfCause(cause, false);
}
