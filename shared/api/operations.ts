// Every operation of the public API on one page: request, answer, refusals.
import type * as z from 'zod';
import * as answers from './answers.ts';
import type { RefusalCode } from './refusals.ts';
import * as requests from './requests.ts';

export interface Operation {
  /** OpenAPI's operationId. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'delete';
  readonly path: `/${string}`;
  readonly tag: 'service' | 'subscription' | 'sms' | 'voice';
  readonly summary: string;
  readonly description: string;
  /** `bearer`: a token of the subscription. `payment`: a payment takes its place. */
  readonly auth: 'none' | 'bearer' | 'payment';
  /** Its answer is the only copy of something, so it must not be sent without the body (`HEAD`). */
  readonly isClaim?: boolean;
  /** A browser gets a page, and may send a form. */
  readonly hasPage?: boolean;
  /** The answer is constant, so the operation cannot fail. */
  readonly isConstant?: boolean;
  /** The names in braces of its path. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The refusal of a missing or wrong field of the body, if it is not `invalid_request`. */
  readonly fieldRefusal?: RefusalCode;
  /** Absent if the answer is 204, without a body. */
  readonly answer?: z.ZodType;
  /** Refusals in addition to those of all operations. */
  readonly refusals: readonly RefusalCode[];
}

const catalog = {
  id: 'getCatalog',
  method: 'get',
  path: '/',
  tag: 'service',
  auth: 'none',
  summary: 'The service, and where its descriptions are',
  description: 'A browser, which prefers text/html, gets a page for people.',
  hasPage: true,
  answer: answers.catalogSchema,
  refusals: [],
} as const satisfies Operation;

const availability = {
  id: 'getAvailability',
  method: 'get',
  path: '/availability',
  tag: 'service',
  auth: 'none',
  summary: 'How many numbers can be had right now',
  description:
    'Numbers that are not sold and whose SIMs are on the network at this moment. The total number is not public.',
  answer: answers.availabilitySchema,
  refusals: [],
} as const satisfies Operation;

const waitlist = {
  id: 'joinWaitlist',
  method: 'post',
  path: '/waitlist',
  tag: 'service',
  auth: 'none',
  summary: 'Get a mail when numbers are available again',
  description:
    'Idempotent: the same address, however its letters are written, is registered once. One mail is sent; who wants ' +
    'to know of the next time too registers again.',
  hasPage: true,
  body: requests.waitlistRequestSchema,
  fieldRefusal: 'invalid_email',
  answer: answers.waitlistedSchema,
  refusals: ['invalid_email'],
} as const satisfies Operation;

const demo = {
  id: 'runDemo',
  method: 'post',
  path: '/demo',
  tag: 'service',
  auth: 'none',
  summary: 'See what subscribing, sending and receiving answer, without paying',
  description: 'Made-up contents in the exact shapes of the real answers. Nothing is written.',
  isConstant: true,
  answer: answers.demoSchema,
  refusals: [],
} as const satisfies Operation;

const subscribe = {
  id: 'subscribe',
  method: 'post',
  path: '/subscribe',
  tag: 'subscription',
  auth: 'payment',
  summary: 'Pay for a number for a year, or for a year more of the same number',
  description:
    'Without a payment: 402 with the ways to pay. Pay one of them by x402 (`X-PAYMENT` or `PAYMENT-SIGNATURE`) or MPP ' +
    '(`Authorization: Payment …`). The number belongs to the wallet that paid: never pay with one that you will not keep. ' +
    'Paying again with the same wallet renews: it adds a year to the same number.',
  answer: answers.subscribedSchema,
  refusals: [
    'invalid_request',
    'payment_already_used',
    'pool_exhausted',
    'settlement_pending',
    'settlement_unavailable',
    'overloaded',
    'paid_ahead',
  ],
} as const satisfies Operation;

const nonce = {
  id: 'issueNonce',
  method: 'post',
  path: '/auth/nonce',
  tag: 'subscription',
  auth: 'none',
  summary: 'A text to sign, to prove the wallet',
  description:
    'Sign `message` as it stands (EIP-191, personal_sign), and send it to POST /auth within 300 seconds.',
  body: requests.nonceRequestSchema,
  answer: answers.nonceSchema,
  refusals: [],
} as const satisfies Operation;

const signIn = {
  id: 'signIn',
  method: 'post',
  path: '/auth',
  tag: 'subscription',
  auth: 'none',
  summary: 'A new token for the wallet’s signature',
  description: 'All earlier tokens of the wallet are revoked.',
  body: requests.authRequestSchema,
  answer: answers.signedInSchema,
  refusals: ['signature_mismatch', 'no_active_subscription', 'settlement_pending', 'overloaded'],
} as const satisfies Operation;

const number = {
  id: 'getNumber',
  method: 'get',
  path: '/number',
  tag: 'subscription',
  auth: 'bearer',
  summary: 'The number of the token, and until when',
  description: 'The subscription of the token.',
  answer: answers.subscriptionSchema,
  refusals: [],
} as const satisfies Operation;

const send = {
  id: 'sendSms',
  method: 'post',
  path: '/sms/send',
  tag: 'sms',
  auth: 'bearer',
  summary: 'Send a text message',
  description:
    'Answers when the carrier has accepted it. After a time-out look into /sms/messages before sending again: it may have been sent.',
  body: requests.smsSendRequestSchema,
  answer: answers.sentSchema,
  refusals: ['destination_not_allowed', 'phone_node_error'],
} as const satisfies Operation;

const receive = {
  id: 'receiveSms',
  method: 'get',
  path: '/sms/receive',
  tag: 'sms',
  auth: 'bearer',
  summary: 'Claim the messages that have come in',
  description: 'Each message is returned once, to the first request. /sms/messages shows them again.',
  isClaim: true,
  query: requests.receiveQuerySchema,
  answer: answers.receivedSchema,
  refusals: [],
} as const satisfies Operation;

const messages = {
  id: 'listMessages',
  method: 'get',
  path: '/sms/messages',
  tag: 'sms',
  auth: 'bearer',
  summary: 'All messages, sent and received, newest first',
  description: 'Changes nothing: what /sms/receive has not given out is still there for it.',
  query: requests.messagesQuerySchema,
  answer: answers.historySchema,
  refusals: [],
} as const satisfies Operation;

const deleteMessage = {
  id: 'deleteMessage',
  method: 'delete',
  path: '/sms/messages/{id}',
  tag: 'sms',
  auth: 'bearer',
  summary: 'Delete one message for good',
  description:
    'Sent or received, claimed or not: it is in no answer any more, and what becomes of it later changes nothing. A message that ' +
    'is being sent is sent all the same. The second time it is 404, as for a message of another subscription.',
  params: requests.messagePathSchema,
  refusals: ['message_not_found'],
} as const satisfies Operation;

const deleteMessages = {
  id: 'deleteMessages',
  method: 'delete',
  path: '/sms/messages',
  tag: 'sms',
  auth: 'bearer',
  summary: 'Delete all messages for good, or those that a query names',
  description:
    'It takes the filters of GET /sms/messages; without one it deletes all, also unclaimed messages. A message that arrives ' +
    'while it runs stays. 100,000 at most at a time: ask again while `has_more` is true.',
  query: requests.deleteQuerySchema,
  answer: answers.deletedSchema,
  refusals: [],
} as const satisfies Operation;

const dial = {
  id: 'dialCall',
  method: 'post',
  path: '/voice/dial',
  tag: 'voice',
  auth: 'bearer',
  summary: 'Place a call',
  description:
    'Answers when the far end rings or has answered. Its audio is at `stream_url`, a WebSocket (/asyncapi.json).',
  body: requests.dialRequestSchema,
  answer: answers.dialledSchema,
  refusals: [
    'destination_not_allowed',
    'forbidden',
    'phone_number_not_found',
    'subscription_not_bound',
    'line_busy',
    'phone_node_unreachable',
  ],
} as const satisfies Operation;

const hangUp = {
  id: 'hangUpCall',
  method: 'post',
  path: '/voice/hangup',
  tag: 'voice',
  auth: 'bearer',
  summary: 'End a call, or reject one that rings',
  description:
    'Answers when the modem has accepted it; presence reports when the network has ended the call.',
  body: requests.hangUpRequestSchema,
  answer: answers.hungUpSchema,
  refusals: ['call_not_found', 'phone_node_error'],
} as const satisfies Operation;

const calls = {
  id: 'listCalls',
  method: 'get',
  path: '/voice/calls',
  tag: 'voice',
  auth: 'bearer',
  summary: 'All calls, newest first',
  description: 'Paged like /sms/messages.',
  query: requests.callsQuerySchema,
  answer: answers.callsSchema,
  refusals: [],
} as const satisfies Operation;

/** The operations by name. */
export const OPERATION = {
  catalog,
  availability,
  waitlist,
  demo,
  subscribe,
  nonce,
  signIn,
  number,
  send,
  receive,
  messages,
  deleteMessage,
  deleteMessages,
  dial,
  hangUp,
  calls,
} as const satisfies Record<string, Operation>;

/** Types of the body and of the answer, for handlers. */
export type BodyOf<O extends Operation> = O['body'] extends z.ZodType ? z.output<O['body']> : undefined;
export type QueryOf<O extends Operation> = O['query'] extends z.ZodType ? z.output<O['query']> : undefined;
export type ParamsOf<O extends Operation> = O['params'] extends z.ZodType ? z.output<O['params']> : undefined;
export type AnswerOf<O extends Operation> = O['answer'] extends z.ZodType ? z.input<O['answer']> : undefined;

/** All refusals of an operation. */
export function refusalsOf({ auth, body, isConstant = false, method, refusals }: Operation): RefusalCode[] {
  return [
    ...new Set<RefusalCode>([
      'invalid_request',
      ...(body === undefined ? [] : (['invalid_json', 'unsupported_media_type'] as const)),
      // Without a payment the answer is always 402.
      ...(method !== 'get' && auth !== 'payment' ? (['payload_too_large'] as const) : []),
      ...(auth === 'bearer' ? (['unauthorized'] as const) : []),
      ...refusals,
      'rate_limited',
      'request_timeout',
      'headers_too_large',
      ...(isConstant ? [] : (['internal_error', 'unavailable'] as const)),
    ]),
  ];
}
