// The types of the API's requests and responses, and of the frames on its WebSockets, by operation.
import type { AnswerOf, BodyOf, OPERATION, QueryOf } from '#shared/api/operations.ts';

export type { PresenceEvent, ServerFrame, StreamProtocol } from '#shared/api/voice-frames.ts';

type Operations = typeof OPERATION;

/** A time may also be text: RFC 3339, with a zone. */
export type TimesAsText<T> = { [K in keyof T]: Date extends T[K] ? T[K] | string : T[K] };

export type Answer<K extends keyof Operations> = AnswerOf<Operations[K]>;
export type Body<K extends 'waitlist' | 'send' | 'dial' | 'hangUp' | 'addWebhook' | 'changeWebhook'> = BodyOf<
  Operations[K]
>;
export type Query<
  K extends 'receive' | 'messages' | 'deleteMessages' | 'calls' | 'receipts' | 'listDeliveries',
> = TimesAsText<Partial<QueryOf<Operations[K]>>>;
