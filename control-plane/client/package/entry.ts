// Everything that the package `simrack-client` exports.
// biome-ignore-all lint/performance/noBarrelFile: it is the entry of a package.

export { ApiError, isApiError } from '../api-error.ts';
export type { Answer, Body, PresenceEvent, Query, ServerFrame } from '../api-types.ts';
export type { CallStream, StreamOptions } from '../call-stream.ts';
export type { InboundMessage, WaitOptions } from '../claimed-messages.ts';
export { type LongText, PartlySentError, type SentLongText } from '../long-text.ts';
export type { Account, Hex, TypedData } from '../payments/account.ts';
export { NotPayableError, type Offer, type SpendLimit } from '../payments/offer.ts';
export { PAYMENT_PROTOCOLS, type PaymentProtocol, type SignedPayment } from '../payments/sign.ts';
export type { WatchOptions } from '../presence-watch.ts';
export type { Purchase, PurchaseOptions, RecoverOptions } from '../purchase-options.ts';
export {
  type Call,
  type HistoryMessage,
  type Receipt,
  type ReceiptQuery,
  SimrackClient,
} from '../simrack-client.ts';
export type { StreamEnd } from '../stream-end.ts';
export type { Webhook, WebhookChange, WebhookDelivery } from '../webhooks.ts';
