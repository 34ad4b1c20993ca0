// The service for agents in code: one method per operation, and some that combine several.
import { OPERATION } from '#shared/api/operations.ts';
import { ApiError, isApiError } from './api-error.ts';
import type { Answer, Body, Query, StreamProtocol } from './api-types.ts';
import { claimAwaited } from './awaited-texts.ts';
import { CallStream, type StreamOptions } from './call-stream.ts';
import { checkOptions, checkText } from './checked-options.ts';
import { ClaimedMessages, type InboundMessage, type WaitOptions } from './claimed-messages.ts';
import { type LongText, type SentLongText, sendLongText } from './long-text.ts';
import type { Account } from './payments/account.ts';
import { type WatchOptions, watchPresence } from './presence-watch.ts';
import { purchase } from './purchase.ts';
import type { Purchase, PurchaseOptions, RecoverOptions } from './purchase-options.ts';
import { signInText } from './sign-in-text.ts';
import { Transport } from './transport.ts';
import { WebhooksClient } from './webhooks.ts';

export type HistoryMessage = Answer<'messages'>['messages'][number];
export type Call = Answer<'calls'>['calls'][number];
/** `account`: signs in place of a token. */
export type ReceiptQuery = Query<'receipts'> & { account?: Account | undefined };
export type Receipt = Answer<'receipts'>['receipts'][number];

interface ClientOptions {
  baseUrl: string;
  token?: string | undefined;
  domain?: string | undefined;
}

type CodeMessage = InboundMessage & { code: string };

/** The maximum of a page. */
const PAGE_LIMIT = 100;
/** The service signs receipts for one reader at a time: for another one, a page may be empty although there are more. */
const EMPTY_PAGES_MAX = 20;

/**
 * Methods return the API's response, field by field. Times are RFC 3339 in UTC and numbers E.164; a query accepts a `Date` for a time.
 * Every refusal, and every failure to get a response, is an `ApiError` with a stable `code`: those of the API, and `unreachable`, `timeout`
 * and `invalid_answer` with `status` 0. All methods can throw `unreachable`, `timeout`, `rate_limited` (with `retryAfterSeconds`) and
 * `internal_error`. Those that need a token can also throw `unauthorized`. Each method documents only its other errors.
 * A wrong argument, such as an option with another name, is a `TypeError` before any request.
 */
export class SimrackClient {
  readonly #transport: Transport;
  readonly #claimed: ClaimedMessages;
  /** Events posted to a URL of yours. */
  readonly webhooks: WebhooksClient;
  readonly #domain: string | undefined;
  #token: string | undefined;
  #mayWait = true;

  /**
   * `baseUrl` as `https://host`; `token` of an earlier purchase or recovery; `domain` that wallets sign in to, if it is not the host of
   * `baseUrl`. Throws `TypeError` for an invalid URL.
   */
  constructor(options: ClientOptions) {
    checkOptions('new SimrackClient', options);
    const { baseUrl, token, domain } = options;
    this.#transport = new Transport(baseUrl);
    this.#token = token;
    this.#domain = domain;
    this.webhooks = new WebhooksClient(this.#transport, () => this.#bearer());
    this.#claimed = new ClaimedMessages((...wait) => this.#claim(...wait));
  }

  /** The token of the last purchase or recovery, or the given one. A secret: store it, because it is not shown again. */
  get token(): string | undefined {
    return this.#token;
  }

  /** Describes the service, and links to its documents. */
  catalog(): Promise<Answer<'catalog'>> {
    return this.#transport.call(OPERATION.catalog);
  }

  /** `{available}`: how many numbers are available now. */
  availability(): Promise<Answer<'availability'>> {
    return this.#transport.call(OPERATION.availability);
  }

  /** Joins the waitlist for a mail when numbers are available again. The same address twice is one entry. Throws `invalid_email`. */
  joinWaitlist(body: Body<'waitlist'>): Promise<Answer<'waitlist'>> {
    return this.#transport.call(OPERATION.waitlist, { body });
  }

  /** Example responses of `subscribe`, `send` and `receive`. Nothing is paid or stored. */
  demo(): Promise<Answer<'demo'>> {
    return this.#transport.call(OPERATION.demo);
  }

  /**
   * Pays for a year with the caller's wallet, up to `maxAmount` (of USDC, in millionths), and uses the new token. A wallet with a number
   * keeps it for another year (`renewed`). It pays once, whatever happens: after an unclear response it repeats the same payment, for up to
   * `settleTimeoutMs`. Throws `NotPayableError` before anything is signed, and `pool_exhausted` and the codes of a 402
   * (`insufficient_funds` …) if nothing was paid. Throws `settlement_pending` if that is unknown: call again with `resume`, the payment
   * that `onSigned` got. Throws `payment_already_used` if a resumed payment was paid, and the wallet has no subscription: `message` says why.
   */
  async subscribe(options: PurchaseOptions): Promise<Purchase> {
    checkOptions('subscribe', options);
    const bought = await purchase(this.#transport, options, () => this.recover(options));
    this.#token = bought.token;
    return bought;
  }

  /**
   * Gets a new token for the wallet's signature, and uses it. All older tokens are revoked, also those of other programs. It is free.
   * Takes the options of `subscribe`, and reads only `account`. Throws `no_active_subscription`.
   */
  async recover(options: RecoverOptions): Promise<Answer<'signIn'>> {
    checkOptions('recover', options);
    const body = await this.#proof(options.account);
    const signedIn = await this.#transport.call(OPERATION.signIn, { body });
    this.#token = signedIn.token;
    return signedIn;
  }

  /** The number of the token, and when it expires. */
  async number(): Promise<Answer<'number'>> {
    return this.#transport.call(OPERATION.number, { token: this.#bearer() });
  }

  /**
   * Sends an SMS of one segment; resolves when the carrier has accepted it. Throws `invalid_request` (too long: `details` has `units` and
   * `max_units`), `destination_not_allowed`, and `phone_node_error`. After `phone_node_error`, or without a response, check `history`
   * before you send again: the SMS may have been sent.
   */
  async send(body: Body<'send'>): Promise<Answer<'send'>> {
    return this.#transport.call(OPERATION.send, { token: this.#bearer(), body });
  }

  /**
   * Sends a text of any length: as numbered texts in order (`(1/3) …`) if the service refuses it whole. With `transliterate: true` it
   * replaces typographic characters, and returns which (`replaced`). Throws `PartlySentError` with what went out: call again with its
   * `since`, and nothing is sent twice. Throws the errors of `send`; a text that needs more than 20 texts is `invalid_request`, and none is sent.
   */
  async sendLong(text: LongText): Promise<SentLongText> {
    checkOptions('sendLong', text);
    return sendLongText(this, text, new Date());
  }

  /** Claims received messages, up to `limit` (20), oldest first: each is delivered once. Messages that `waitForMessage` held come first. */
  async receive(query: Query<'receive'> = {}): Promise<Answer<'receive'>> {
    const { messages } = await this.#transport.call(OPERATION.receive, { token: this.#bearer(), query });
    const all = [...(await this.#claimed.takeAll()), ...messages];
    return { messages: all, count: all.length };
  }

  /**
   * Waits at the service for a message that fits `from` and `match`, through restarts of the service. Throws `ApiError` `timeout`, and the reason of
   * `signal`. Other messages that arrive meanwhile are claimed too, and held for the next wait or `receive`.
   */
  async waitForMessage(options: WaitOptions = {}): Promise<InboundMessage> {
    checkOptions('waitForMessage', options);
    return this.#claimed.wait(options);
  }

  /**
   * Waits for a message with a one-time code, like `waitForMessage`: its `code` is never null. `code_origin` is the web site that the code
   * is for, if the message names it. Messages without a code are held.
   */
  async waitForCode(options: WaitOptions = {}): Promise<CodeMessage> {
    checkOptions('waitForCode', options);
    const { match } = options;
    const hasCode = (message: InboundMessage): boolean => message.code !== null && (match?.(message) ?? true);
    return (await this.waitForMessage({ ...options, match: hasCode })) as CodeMessage;
  }

  /** Returns the messages that `waitForMessage` claimed and held, without a request: call it at the end of a program, to use them all. */
  held(): Promise<InboundMessage[]> {
    return this.#claimed.takeAll();
  }

  /** One page of the history, newest first, 50 by default (`limit`, 100 at most). Claims nothing. */
  async messages(query: Query<'messages'> = {}): Promise<Answer<'messages'>> {
    return this.#transport.call(OPERATION.messages, { token: this.#bearer(), query });
  }

  /** All messages, newest first, fetched in pages of `limit` (100) on demand. Claims nothing. */
  async *history(query: Query<'messages'> = {}): AsyncGenerator<HistoryMessage, void> {
    let cursor = query.cursor;
    do {
      const page = await this.messages({ limit: PAGE_LIMIT, ...query, cursor });
      yield* page.messages;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Deletes one message for good, sent or received. Throws `message_not_found`, also the second time. */
  async deleteMessage(id: number): Promise<void> {
    await this.#transport.call(OPERATION.deleteMessage, { token: this.#bearer(), params: { id } });
  }

  /**
   * Deletes messages for good: all, or those of the query. Resolves with how many. Unclaimed messages are deleted too. Messages that arrive
   * meanwhile stay, unless there are more than 100,000.
   */
  async deleteMessages(query: Query<'deleteMessages'> = {}): Promise<number> {
    let all = 0;
    for (let hasMore = true; hasMore; ) {
      const answer = await this.#transport.call(OPERATION.deleteMessages, { token: this.#bearer(), query });
      all += answer.deleted;
      hasMore = answer.has_more;
    }
    return all;
  }

  /**
   * Places a call from `phone_number`, the token's own; resolves when the far end rings, which takes seconds. Open its `stream` within 30
   * s. Throws `phone_node_unreachable` (`details.reason`: `busy`, `no_answer` …), `line_busy`, `destination_not_allowed`,
   * `subscription_not_bound`, `forbidden`, `phone_number_not_found`.
   */
  async dial(body: Body<'dial'>): Promise<Answer<'dial'>> {
    return this.#transport.call(OPERATION.dial, { token: this.#bearer(), body });
  }

  /** Ends a call, or rejects a ringing one. Throws `call_not_found`, `phone_node_error`. */
  async hangUp(body: Body<'hangUp'>): Promise<Answer<'hangUp'>> {
    return this.#transport.call(OPERATION.hangUp, { token: this.#bearer(), body });
  }

  /** One page of the list of calls, newest first. */
  async calls(query: Query<'calls'> = {}): Promise<Answer<'calls'>> {
    return this.#transport.call(OPERATION.calls, { token: this.#bearer(), query });
  }

  /** All calls, newest first, fetched in pages of `limit` (100) on demand. */
  async *callHistory(query: Query<'calls'> = {}): AsyncGenerator<Call, void> {
    let cursor = query.cursor;
    do {
      const page = await this.calls({ limit: PAGE_LIMIT, ...query, cursor });
      yield* page.calls;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /**
   * The audio of a call, both ways. Opening it answers a ringing call, closing it hangs up. For a call that is over it opens too, and
   * `ended` resolves with `call_not_found`.
   */
  async stream(callId: string, options: StreamOptions = {}): Promise<CallStream> {
    checkText('stream', 'id of the call', callId);
    checkOptions('stream', options);
    return CallStream.open(this.#socketAt('stream', callId), options);
  }

  /**
   * Where a WebSocket of your own opens the stream of a call, with the token as its bearer, in the messages of one of its protocols. Opening
   * it answers a ringing call, closing it hangs up.
   */
  streamAddress(callId: string, protocol: StreamProtocol): { url: string; token: string } {
    const { url, token } = this.#socketAt('stream', callId);
    return { url: `${url}?protocol=${protocol}`, token };
  }

  /**
   * Reports a number's calls as they ring, are answered and end. Reconnects by itself; resolves when `signal` is aborted. Throws
   * `unauthorized`, `forbidden` and `phone_number_not_found`.
   */
  async watchCalls(number: string, options: WatchOptions): Promise<void> {
    checkText('watchCalls', 'number', number);
    checkOptions('watchCalls', options);
    return watchPresence(this.#socketAt('presence', number), options);
  }

  /**
   * One page of the signed receipts of payments, texts and calls, oldest first: those after the one with this sequence. With an `account`,
   * its signature takes the place of a token: also after its subscription has ended, for instance with a refund.
   */
  async receipts({ account, ...query }: ReceiptQuery = {}): Promise<Answer<'receipts'>> {
    if (account === undefined)
      return this.#transport.call(OPERATION.receipts, { token: this.#bearer(), query });
    const { after = 0, limit = PAGE_LIMIT } = query;
    const body = { ...(await this.#proof(account)), after, limit };
    return this.#transport.call(OPERATION.walletReceipts, { body });
  }

  /** All receipts after the one with this sequence, oldest first, fetched in pages of `limit` (100) on demand. */
  async *allReceipts(query: ReceiptQuery = {}): AsyncGenerator<Receipt, void> {
    let after = query.after ?? 0;
    for (let empty = 0; empty < EMPTY_PAGES_MAX; ) {
      const page = await this.receipts({ limit: PAGE_LIMIT, ...query, after });
      yield* page.receipts;
      if (!page.has_more) return;
      empty = page.receipts.length === 0 ? empty + 1 : 0;
      after = page.receipts.at(-1)?.sequence ?? after;
    }
    throw new ApiError({ status: 503, code: 'unavailable', message: 'the receipts are being signed' });
  }

  /** The public keys that verify receipts. */
  receiptKeys(): Promise<Answer<'receiptKeys'>> {
    return this.#transport.call(OPERATION.receiptKeys);
  }

  async #proof(account: Account): Promise<{ wallet: string; nonce: string; signature: string }> {
    const { address: wallet } = account;
    const issued = await this.#transport.call(OPERATION.nonce, { body: { address: wallet } });
    const message = signInText(issued, { baseUrl: this.#transport.baseUrl, domain: this.#domain });
    return { wallet, nonce: issued.nonce, signature: await account.signMessage({ message }) };
  }

  async #claim(waitSeconds: number, signal: AbortSignal): Promise<readonly InboundMessage[]> {
    const token = this.#bearer();
    if (waitSeconds > 0 && this.#mayWait) {
      try {
        return await claimAwaited(this.#transport, { token, waitSeconds, signal });
      } catch (error) {
        // A web page of another origin may claim, but not wait.
        if (!isApiError(error, 'origin_not_allowed')) throw error;
        this.#mayWait = false;
      }
    }
    const query = { limit: PAGE_LIMIT };
    return (await this.#transport.call(OPERATION.receive, { token, query })).messages;
  }

  // Not `stream_url`: the token is sent only to the host that the caller named.
  #socketAt(kind: 'stream' | 'presence', name: string): { url: string; token: string } {
    const url = `${this.#transport.baseUrl}/voice/${kind}/${encodeURIComponent(name)}`;
    return { url, token: this.#bearer() };
  }

  #bearer(): string {
    if (this.#token !== undefined) return this.#token;
    const message = 'no token: call subscribe() or recover(), or pass one';
    throw new ApiError({ status: 401, code: 'unauthorized', message });
  }
}
