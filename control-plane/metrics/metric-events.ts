// In-process metric events (node:diagnostics_channel). They carry no numbers, wallets or message text.
import { channel } from 'node:diagnostics_channel';
import type { RefusalCode } from '#shared/api/refusals.ts';
import type { FailureClass } from '#shared/sms/failure-class.ts';
import type { CallDirection } from '#shared/voice/call.ts';
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { AlertChannelName } from '../domain/alert.ts';
import type { AlertKind } from '../domain/alert-kinds.ts';

/** How a request paid; `none` if it had no payment. */
const PAYMENT_METHODS = ['x402_v1', 'x402_v2', 'mpp', 'none'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** The outcome of a paid request. `invalid`: it was not a payment; `failed`: an internal error. */
export const PAYMENT_OUTCOMES = [
  'settled',
  'rejected',
  'pending',
  'already_used',
  'pool_exhausted',
  'unavailable',
  'paid_ahead',
  'refused_for_a_while',
  'invalid',
  'failed',
] as const;
export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

/** `rejected` by the carrier or the modem, `refused` by the node, `offline`: the node has no link. */
export const SEND_OUTCOMES = [
  'accepted',
  'rejected',
  'unknown',
  'rate_limited',
  'refused',
  'offline',
] as const;
export type SendOutcome = (typeof SEND_OUTCOMES)[number];

/**
 * Not stored: `unheld`, the number had no subscriber when the service center received the message; `undated`, the message does not show
 * whether the present subscriber had the number then. `probe`: one of the service's probes.
 */
export const RECEIVED_RESULTS = ['stored', 'unheld', 'undated', 'unreadable', 'probe'] as const;

/** The limited party: an address, a token, a SIM at its node (`sms`), a number by the service, or a person who signs in to the console. */
export const LIMITS = [
  'address',
  'token',
  'nonce',
  'auth',
  'waitlist',
  'enrolment',
  'sockets',
  'waits',
  'sms',
  'number',
  'calls',
  'console',
  'link',
  'refused_transfers',
  'connections',
  'pipelined',
  'frames',
  'webhook_tests',
  'webhook_replays',
] as const;
export type Limit = (typeof LIMITS)[number];

/** The outcome of an attempt to deliver a webhook. `gone`: HTTP 410; `not_allowed`: the address is not public. */
export const WEBHOOK_OUTCOMES = [
  'delivered',
  'refused',
  'timeout',
  'unreachable',
  'not_allowed',
  'gone',
] as const;
type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

export const TASKS = [
  'reconcile',
  'finality',
  'gas',
  'waitlist',
  'costs',
  'cleaning',
  'probes',
  'alerts',
  'alert_messages',
  'samples',
  'webhooks',
] as const;
export type Task = (typeof TASKS)[number];

export type MetricEvent =
  /** `route`: the template of the path, never the path. */
  | { kind: 'answered'; route: string; method: string; status: number; seconds: number }
  /** Refused before it could be parsed as a request. */
  | { kind: 'malformed'; status: number }
  | { kind: 'refused'; code: RefusalCode }
  | { kind: 'rate_limited'; limit: Limit }
  | { kind: 'payment_attempted'; method: PaymentMethod; outcome: PaymentOutcome }
  | { kind: 'payment_verified'; method: PaymentMethod }
  | { kind: 'payment_refused'; code: string }
  | { kind: 'settled'; chainId: number; result: string; seconds: number }
  | { kind: 'reconciled'; chainId: number; result: string }
  | { kind: 'sms_sent'; outcome: SendOutcome; seconds: number }
  | { kind: 'sms_received'; result: (typeof RECEIVED_RESULTS)[number]; count: number }
  | { kind: 'sms_reported'; status: string }
  | ({ kind: 'text_ended' } & TextEndMetric)
  | { kind: 'sms_claimed'; seconds: number }
  | { kind: 'sms_given_back'; count: number }
  /** `seconds`: since the event. */
  | { kind: 'webhook_tried'; outcome: WebhookOutcome; seconds: number; isFirst: boolean }
  | { kind: 'webhook_disabled' }
  | { kind: 'call_ended'; call: CallMetric }
  /** Frames (20 ms) of an ended call, by what happened to them. */
  | { kind: 'audio_carried'; frames: Readonly<Record<string, number>> }
  | { kind: 'mail_tried'; outcome: string }
  /** `open`: the kind of each open alert. */
  | { kind: 'alerts_checked'; open: readonly AlertKind[] }
  | { kind: 'alerts_sent'; channel: AlertChannelName; outcome: string }
  | ({ kind: 'probed' } & ProbeMetric)
  | { kind: 'queried'; seconds: number }
  /** `errorClass`: the first two characters of SQLSTATE, or `connection`. */
  | { kind: 'query_failed'; errorClass: string }
  | { kind: 'housekept'; task: Task; isDone: boolean; atMs: number };

/** A text of a subscriber whose end is known. */
interface TextEndMetric {
  /** As its modem reported it. */
  carrier: string | null;
  /** `delivered`, or why it failed. */
  result: 'delivered' | FailureClass;
  /** From the request until the service had the report; undefined without a report. */
  reportSeconds: number | undefined;
}

interface CallMetric {
  direction: CallDirection;
  reason: EndReason;
  answeredAt: Date | null;
  endedAt: Date;
}

/** An ended probe. For a failure, `ends` has the ends that may have caused it. */
interface ProbeMetric {
  probe: 'sms' | 'call';
  result: 'delivered' | 'failed' | 'abandoned';
  ends: readonly { role: 'sender' | 'recipient'; node: string; slot: string; carrier: string | null }[];
  /** From the command to the fact. */
  seconds: number | undefined;
}

/** Handlers of the metric events of one subject. */
export type Listeners = {
  readonly [K in MetricEvent['kind']]?: (event: Extract<MetricEvent, { kind: K }>) => void;
};

const METRIC_EVENTS = channel('simrack.metric-events');

export function emitMetric(event: MetricEvent): void {
  if (METRIC_EVENTS.hasSubscribers) METRIC_EVENTS.publish(event);
}

export function emitTextEnd(end: TextEndMetric | undefined): void {
  if (end !== undefined) emitMetric({ kind: 'text_ended', ...end });
}

/** Calls `listener` for every metric event of this process. The returned function stops that. */
export function onMetricEvent(listener: (event: MetricEvent) => void): () => void {
  const subscriber = (message: unknown): void => listener(message as MetricEvent);
  METRIC_EVENTS.subscribe(subscriber);
  return () => void METRIC_EVENTS.unsubscribe(subscriber);
}
