// Every operation of the public API: request, answer, refusals. Those of receipts and webhooks come from files of their own.
import type * as z from 'zod';
import * as answers from './answers.ts';
import * as callAnswers from './call-answers.ts';
import type { Operation } from './operation.ts';
import { RECEIPT_OPERATION } from './receipt-operations.ts';
import type { RefusalCode } from './refusals.ts';
import * as requests from './requests.ts';
import { WEBHOOK_OPERATION } from './webhook-operations.ts';

export type { Operation } from './operation.ts';

const catalog = {
  id: 'getCatalog',
  method: 'get',
  path: '/',
  tag: 'service',
  auth: 'none',
  summary: 'Describe the service, and link to its API documents',
  description: 'A client that prefers text/html, such as a browser, gets a page for people.',
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
  summary: 'Show how many numbers are available now',
  description:
    'Counts the numbers that are for sale and whose SIMs are on the network. The size of the fleet is not public.',
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
    'Idempotent: a mailbox is registered once; letter case and a tag (`+shop`) do not matter. You get one mail for each registration. ' +
    'Register again to get another.',
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
  summary: 'Return example responses of subscribing, sending and receiving',
  description:
    'The responses have the same fields as the real ones, with made-up values. Nothing is stored, and nothing is charged.',
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
  summary: 'Pay for a number for a year, or for another year of the same number',
  description:
    'Without a payment, the answer is 402 with the payment options. Pay one of them with x402 (`X-PAYMENT` or ' +
    '`PAYMENT-SIGNATURE`) or MPP (`Authorization: Payment …`). The number belongs to the wallet that paid: pay with a ' +
    'wallet that you keep. To renew, pay again with the same wallet: this adds a year to the same number.',
  answer: answers.subscribedSchema,
  refusals: [
    'invalid_request',
    'payment_already_used',
    'payment_identifier_reused',
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
  summary: 'Get a nonce and the text that the wallet signs',
  description:
    'Sign `message` as it is (EIP-191, personal_sign). Then send the signature to POST /auth within 300 seconds.',
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
  summary: 'Get a new token with a signature of the wallet',
  description: 'This revokes all older tokens of the wallet.',
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
  summary: 'Show the number of the token, and when it expires',
  description: 'Returns the subscription that the token belongs to.',
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
    'Answers when the carrier has accepted the message. After a timeout, check /sms/messages before you send again: the message may have been sent. ' +
    'Carriers block numbers that send like machines, so each number has limits: `warnings` lists those that are nearly used, and `rate_limited` names the one that is reached.',
  body: requests.smsSendRequestSchema,
  answer: answers.sentSchema,
  refusals: ['destination_not_allowed', 'recipient_opted_out', 'phone_node_error'],
} as const satisfies Operation;

const receive = {
  id: 'receiveSms',
  method: 'get',
  path: '/sms/receive',
  tag: 'sms',
  auth: 'bearer',
  summary: 'Claim the received messages',
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
  summary: 'List the sent and received messages, newest first',
  description: 'Reading claims nothing: /sms/receive still returns the unclaimed messages.',
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
  summary: 'Delete one message permanently',
  description:
    'Deletes a sent or received message, claimed or not. No answer contains it any more, and a later delivery report changes ' +
    'nothing. A message that is being sent is still sent. A second request is answered with 404, as for an unknown id.',
  params: requests.messagePathSchema,
  refusals: ['message_not_found'],
} as const satisfies Operation;

const deleteMessages = {
  id: 'deleteMessages',
  method: 'delete',
  path: '/sms/messages',
  tag: 'sms',
  auth: 'bearer',
  summary: 'Delete all messages permanently, or those that match a filter',
  description:
    'Takes the filters of GET /sms/messages. Without a filter it deletes all messages, including unclaimed ones. Messages ' +
    'that arrive meanwhile stay. One request deletes about 100,000: repeat it while `has_more` is true.',
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
  answer: callAnswers.dialledSchema,
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
    'Answers when the modem has accepted the request. Presence reports when the network has ended the call.',
  body: requests.hangUpRequestSchema,
  answer: callAnswers.hungUpSchema,
  refusals: ['call_not_found', 'phone_node_error'],
} as const satisfies Operation;

const calls = {
  id: 'listCalls',
  method: 'get',
  path: '/voice/calls',
  tag: 'voice',
  auth: 'bearer',
  summary: 'List the calls, newest first',
  description: 'Pages work as in /sms/messages.',
  query: requests.callsQuerySchema,
  answer: callAnswers.callsSchema,
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
  ...RECEIPT_OPERATION,
  ...WEBHOOK_OPERATION,
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
