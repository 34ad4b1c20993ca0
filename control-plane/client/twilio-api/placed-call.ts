// One call of the API, from the request to its end: it is dialed, its app is asked once it is answered, and callbacks report each step.
import { sleep, systemClock, type Timer, withTimeout } from '#shared/clock.ts';
import { type EndReason, endReasonSchema } from '#shared/voice/release-cause.ts';
import { ApiError, isApiError } from '../api-error.ts';
import type { PresenceEvent } from '../api-types.ts';
import type { BotCall, ConnectBot } from '../bridge/bot.ts';
import { bridgeCall } from '../bridge/bridged-call.ts';
import type { TwilioMethod } from '../bridge/twilio-request.ts';
import { twilioFieldsOf } from '../bridge/twiml-bot.ts';
import type { Call } from '../simrack-client.ts';
import { type Phone, rfc2822, type TwilioAccount } from './account.ts';
import { answererOf, type CallStatus, endStatusOf, isOver, secondsOf, type TwilioCall } from './call-json.ts';
import { twilioRefusalOf } from './refusal.ts';
import { randomSid } from './sids.ts';

/** The callbacks before the answer have this time to be sent, before the app is asked for TwiML. */
const CALLBACKS_MS = 1_000;

export const CALL_EVENTS = ['initiated', 'ringing', 'answered', 'completed'] as const;
type CallEvent = (typeof CALL_EVENTS)[number];

export interface CallRequest {
  to: string;
  connect: ConnectBot;
  /** Until it is answered. */
  timeoutMs: number;
  callback: (Callback & { events: ReadonlySet<string> }) | undefined;
  /** Whether a person or a machine answers is to be judged, and reported to `callback` at once. */
  detection?: { callback: Callback | undefined } | undefined;
}

interface Callback {
  url: string;
  method: TwilioMethod;
}

export class PlacedCall {
  readonly sid = randomSid('CA');
  readonly phone: Phone;
  readonly #account: TwilioAccount;
  readonly #request: CallRequest;
  readonly #createdAt = new Date();
  readonly #ended = new AbortController();
  #callId: string | undefined;
  #status: CallStatus = 'queued';
  #answeredAt: string | null = null;
  #answeredBy: TwilioCall['answeredBy'] = null;
  #endedAt: string | null = null;
  /** It is to end with this status, whatever the network says. */
  #wanted: CallStatus | undefined;
  #timer: Timer | undefined;
  /** Events so far, reported or not. */
  #events = 0;

  constructor(account: TwilioAccount, phone: Phone, request: CallRequest) {
    this.#account = account;
    this.phone = phone;
    this.#request = request;
  }

  get callId(): string | undefined {
    return this.#callId;
  }

  get isOver(): boolean {
    return isOver(this.#status);
  }

  /** Resolves when the far end rings, or the call has ended. Throws `TwilioRefusal` if it was not dialed. */
  async dial(): Promise<void> {
    const { client, number } = this.phone;
    try {
      const { call_id: callId } = await client.dial({
        phone_number: number,
        to: this.#request.to,
        ...(this.#request.detection !== undefined && { detect_machine: true }),
      });
      this.#name(callId);
      this.accepted();
      this.#status = 'ringing';
      this.#report('ringing', 'ringing');
      this.#timer = systemClock.after(this.#request.timeoutMs, () => void this.hangUp('no-answer'));
      if (this.#wanted !== undefined) await this.hangUp(this.#wanted);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const refusal = twilioRefusalOf(error, 'call');
      if (refusal !== undefined) throw refusal;
      const { call_id: callId } = error.details;
      if (typeof callId === 'string') this.#name(callId);
      this.accepted();
      const reason = endReasonSchema.safeParse(error.details['reason']).data ?? 'network_failure';
      this.#end(reason, new Date().toISOString());
    }
  }

  /** It was not refused at once. */
  accepted(): void {
    if (this.#events === 0) this.#report('initiated', 'initiated');
  }

  /** It was refused after its request was answered. */
  fail(): void {
    this.#end('network_failure', new Date().toISOString());
  }

  /** An event of presence. */
  onEvent(event: PresenceEvent): void {
    if (event.kind === 'answered') this.#answer(event.at);
    else if (event.kind === 'detected') this.#judge(answererOf(event.answered_by), event.at);
    else if (event.kind === 'ended') {
      this.#judge(answererOf(event.answered_by), event.at);
      this.#end(event.reason, event.at);
    }
  }

  /** The call's record, read after events may have been missed. */
  onRecord({ answered_at: answeredAt, answered_by: by, ended_at: endedAt, reason }: RecordedCall): void {
    if (endedAt !== null) {
      this.#answeredAt ??= answeredAt;
      this.#judge(answererOf(by), endedAt);
      this.#end(reason ?? 'contact_lost', endedAt);
    } else if (answeredAt !== null) this.#answer(answeredAt);
  }

  /** Ends the call; before it rings, as soon as it does. `status`: its last one if it was not answered. */
  async hangUp(status: CallStatus = 'canceled'): Promise<void> {
    this.#wanted ??= status;
    if (this.#callId === undefined || this.isOver) return;
    await this.phone.client.hangUp({ call_id: this.#callId }).catch((error: unknown) => {
      if (!isApiError(error)) throw error;
      if (error.code !== 'call_not_found') this.#account.note(`${this.sid}: not hung up: ${error.message}`);
    });
  }

  /** Resolves when the call is over, after `ms` at the latest. */
  async ended(ms: number): Promise<void> {
    if (this.isOver || this.#callId === undefined) return;
    await sleep(systemClock, ms, this.#ended.signal).catch(() => undefined);
  }

  view(): TwilioCall {
    return {
      sid: this.sid,
      direction: 'outbound-api',
      from: this.phone.number,
      to: this.#request.to,
      status: this.#status,
      createdAt: this.#createdAt.toISOString(),
      answeredAt: this.#answeredAt,
      endedAt: this.#endedAt,
      answeredBy: this.#answeredBy,
    };
  }

  #name(callId: string): void {
    this.#callId = callId;
    this.#account.callSids.give(callId, this.sid);
  }

  #answer(at: string): void {
    if (this.isOver || this.#answeredAt !== null || this.#callId === undefined) return;
    this.#answeredAt = at;
    this.#status = 'in-progress';
    this.#timer?.cancel();
    const reported = this.#callbacksSent();
    this.#report('answered', 'in-progress');
    void this.#connect(this.#callId, reported);
  }

  /** An app reads `ringing` before it is asked for TwiML. One that does not answer delays its call by a second. */
  async #callbacksSent(): Promise<void> {
    const sent = this.#account.callbacks.sent(this.sid);
    await withTimeout(systemClock, sent, CALLBACKS_MS, () => new Error('late')).catch(() => undefined);
  }

  async #connect(callId: string, reported: Promise<void>): Promise<void> {
    await reported;
    if (this.isOver) return;
    const call = this.#botCall(callId);
    const note = (words: string): void => this.#account.note(`${this.sid}: ${words}`);
    const parts = {
      client: this.phone.client,
      connect: this.#request.connect,
      onNote: (_call: BotCall, words: string) => note(words),
    };
    const signals = { signal: this.#account.signal, ended: this.#ended.signal };
    const { words } = await bridgeCall(parts, call, signals);
    note(words);
  }

  #judge(answeredBy: TwilioCall['answeredBy'], at: string): void {
    if (answeredBy === null || this.#answeredBy !== null || this.isOver) return;
    this.#answeredBy = answeredBy;
    const callback = this.#request.detection?.callback;
    if (callback === undefined) return;
    const durationMs = Math.max(0, Date.parse(at) - Date.parse(this.#answeredAt ?? at));
    const fields = {
      AccountSid: this.#account.sid,
      AnsweredBy: answeredBy,
      CallSid: this.sid,
      MachineDetectionDuration: String(durationMs),
    };
    this.#account.callbacks.send(this.sid, { ...callback, fields });
  }

  #end(reason: EndReason, at: string): void {
    if (this.isOver) return;
    const wasAnswered = this.#answeredAt !== null;
    const status = endStatusOf(reason, { wasAnswered, isInbound: false });
    this.#status = wasAnswered ? status : (this.#wanted ?? status);
    this.#endedAt = at;
    this.#timer?.cancel();
    this.#ended.abort();
    this.#report('completed', this.#status);
  }

  #botCall(callId: string): BotCall {
    const { sid: accountId } = this.#account;
    const [from, to] = [this.phone.number, this.#request.to];
    return { callId, callSid: this.sid, accountId, direction: 'outbound', from, to };
  }

  #report(event: CallEvent, status: string): void {
    const { callback } = this.#request;
    const sequence = this.#events;
    this.#events += 1;
    if (callback === undefined || !callback.events.has(event)) return;
    const fields = {
      ...twilioFieldsOf(this.#botCall(this.#callId ?? '')),
      CallbackSource: 'call-progress-events',
      CallStatus: status,
      SequenceNumber: String(sequence),
      Timestamp: rfc2822(new Date()),
      ...(this.#answeredBy !== null && { AnsweredBy: this.#answeredBy }),
      ...(event === 'completed' ? { CallDuration: String(secondsOf(this.view())) } : {}),
    };
    this.#account.callbacks.send(this.sid, { url: callback.url, method: callback.method, fields });
  }
}

interface RecordedCall {
  answered_at: string | null;
  answered_by: Call['answered_by'];
  ended_at: string | null;
  reason: EndReason | null;
}
