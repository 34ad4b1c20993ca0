// The service for agents in code: one method per operation, and some that combine several.
import type { LocalAccount } from 'viem/accounts';
import { type AnswerOf, type BodyOf, OPERATION, type QueryOf } from '#shared/api/operations.ts';
import { ApiError } from './api-error.ts';
import { CallStream, type StreamOptions } from './call-stream.ts';
import { ClaimedMessages, type InboundMessage, type WaitOptions } from './inbox.ts';
import { type WatchOptions, watchPresence } from './presence-watch.ts';
import { type Purchase, type PurchaseOptions, purchase } from './purchase.ts';
import { Transport } from './transport.ts';

export type Answer<K extends keyof typeof OPERATION> = AnswerOf<(typeof OPERATION)[K]>;
type Body<K extends keyof typeof OPERATION> = BodyOf<(typeof OPERATION)[K]>;
type Query<K extends 'receive' | 'messages' | 'deleteMessages' | 'calls'> = Partial<
  QueryOf<(typeof OPERATION)[K]>
>;

export type HistoryMessage = Answer<'messages'>['messages'][number];
export type Call = Answer<'calls'>['calls'][number];

/** The maximum of a page. */
const PAGE_LIMIT = 100;

/**
 * Methods return the API's response, field by field. Times are RFC 3339 in UTC and numbers E.164; a query accepts a `Date` for a time.
 * Every refusal, and every failure to get a response, is an `ApiError` with a stable `code`: those of the API, and `unreachable`, `timeout`
 * and `invalid_answer` with `status` 0. All methods can throw `unreachable`, `timeout`, `rate_limited` (with `retryAfterSeconds`) and
 * `internal_error`. Those that need a token can also throw `unauthorized`. Each method documents only its other errors.
 */
export class SimrackClient {
  readonly #transport: Transport;
  readonly #claimed: ClaimedMessages;
  #token: string | undefined;

  /** `baseUrl` as `https://host`; `token` of an earlier purchase or recovery. Throws `TypeError` for an invalid URL. */
  constructor({ baseUrl, token }: { baseUrl: string; token?: string | undefined }) {
    this.#transport = new Transport(baseUrl);
    this.#token = token;
    this.#claimed = new ClaimedMessages(async () => {
      const query = { limit: PAGE_LIMIT };
      const parts = { token: this.#bearer(), query };
      return (await this.#transport.call(OPERATION.receive, parts)).messages;
    });
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
   * that `onSigned` got.
   */
  async subscribe(options: PurchaseOptions): Promise<Purchase> {
    const bought = await purchase(this.#transport, options, () => this.recover(options.account));
    this.#token = bought.token;
    return bought;
  }

  /**
   * Gets a new token for the wallet's signature, and uses it. All older tokens are revoked, also those of other programs. It is free.
   * Throws `no_active_subscription`.
   */
  async recover(account: LocalAccount): Promise<Answer<'signIn'>> {
    const { nonce, message } = await this.#transport.call(OPERATION.nonce, {
      body: { address: account.address },
    });
    const signature = await account.signMessage({ message });
    const signedIn = await this.#transport.call(OPERATION.signIn, {
      body: { wallet: account.address, nonce, signature },
    });
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

  /** Claims received messages, up to `limit` (20), oldest first: each is delivered once. Messages that `waitForMessage` held come first. */
  async receive(query: Query<'receive'> = {}): Promise<Answer<'receive'>> {
    const { messages } = await this.#transport.call(OPERATION.receive, { token: this.#bearer(), query });
    const all = [...(await this.#claimed.takeAll()), ...messages];
    return { messages: all, count: all.length };
  }

  /**
   * Waits for a message that fits `from` and `match`, through restarts of the service. Throws `ApiError` `timeout`, and the reason of
   * `signal`. Other messages that arrive meanwhile are claimed too, and held for the next wait or `receive`.
   */
  waitForMessage(options: WaitOptions = {}): Promise<InboundMessage> {
    return this.#claimed.wait(options);
  }

  /** Returns the messages that `waitForMessage` claimed and held, without a request: call it at the end of a program, to lose none. */
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
    return CallStream.open(this.#socketAt('stream', callId), options);
  }

  /**
   * Reports a number's calls as they ring, are answered and end. Reconnects by itself; resolves when `signal` is aborted. Throws
   * `unauthorized`, `forbidden` and `phone_number_not_found`.
   */
  async watchCalls(number: string, options: WatchOptions): Promise<void> {
    return watchPresence(this.#socketAt('presence', number), options);
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
