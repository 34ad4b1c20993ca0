// The service for an agent in code: one method for each operation, and what is made of several.
import type { LocalAccount } from 'viem/accounts';
import { type AnswerOf, type BodyOf, OPERATION, type QueryOf } from '#shared/api/operations.ts';
import { ApiError } from './api-error.ts';
import { CallStream, type StreamOptions } from './call-stream.ts';
import { type InboundMessage, Inbox, type WaitOptions } from './inbox.ts';
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

/** The most that a page has. */
const PAGE_LIMIT = 100;

/**
 * Answers are what the API answers, field for field; times are RFC 3339 in UTC, numbers E.164, and a `Date` is taken
 * where a query has a time. Every "no", and every failure to get an answer, is an `ApiError` whose `code` is safe to
 * switch on: those of the API, beside them `unreachable`, `timeout` and `invalid_answer` with `status` 0. All methods
 * can throw `unreachable`, `timeout`, `rate_limited` (with `retryAfterSeconds`) and `internal_error`; those that need a
 * token also `unauthorized`. Below, only what comes beside these is named.
 */
export class SimrackClient {
  readonly #transport: Transport;
  readonly #inbox: Inbox;
  #token: string | undefined;

  /** `baseUrl` as `https://host`; the token of an earlier purchase or recovery. Throws `TypeError` for a bad URL. */
  constructor({ baseUrl, token }: { baseUrl: string; token?: string | undefined }) {
    this.#transport = new Transport(baseUrl);
    this.#token = token;
    this.#inbox = new Inbox(async () => {
      const query = { limit: PAGE_LIMIT };
      const parts = { token: this.#bearer(), query };
      return (await this.#transport.call(OPERATION.receive, parts)).messages;
    });
  }

  /** Of the last purchase or recovery, or the one that was given. A secret: keep it, it is not shown again. */
  get token(): string | undefined {
    return this.#token;
  }

  /** What the service is, and where its descriptions are. */
  catalog(): Promise<Answer<'catalog'>> {
    return this.#transport.call(OPERATION.catalog);
  }

  /** `{available}`: numbers that can be had right now. */
  availability(): Promise<Answer<'availability'>> {
    return this.#transport.call(OPERATION.availability);
  }

  /** A mail when numbers are there again. The same address twice is one entry. Throws `invalid_email`. */
  joinWaitlist(body: Body<'waitlist'>): Promise<Answer<'waitlist'>> {
    return this.#transport.call(OPERATION.waitlist, { body });
  }

  /** Made-up answers in the shapes of `subscribe`, `send` and `receive`. Nothing is paid or written. */
  demo(): Promise<Answer<'demo'>> {
    return this.#transport.call(OPERATION.demo);
  }

  /**
   * Pays for a year with the caller's wallet, up to `maxAmount` (of USDC, in millionths), and takes the token into use.
   * A wallet that has a number keeps it a year longer (`renewed`). Pays once, whatever happens: after an unclear
   * answer the same payment is sent again, for up to `settleTimeoutMs`. Throws `NotPayableError` before anything is
   * signed, `pool_exhausted` and the codes of a 402 (`insufficient_funds` …) when nothing was paid, and
   * `settlement_pending` when that is not known: call again then with `resume`, the payment that `onSigned` was given.
   */
  async subscribe(options: PurchaseOptions): Promise<Purchase> {
    const bought = await purchase(this.#transport, options, () => this.recover(options.account));
    this.#token = bought.token;
    return bought;
  }

  /**
   * A new token for the wallet's signature, which is taken into use; all older ones are revoked, also those of other
   * programs. Costs nothing. Throws `no_active_subscription`.
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

  /** The number of the token, and until when. */
  async number(): Promise<Answer<'number'>> {
    return this.#transport.call(OPERATION.number, { token: this.#bearer() });
  }

  /**
   * Sends an SMS of one segment; resolves when the carrier has accepted it. Throws `invalid_request` (too long: `details`
   * has `units` and `max_units`), `destination_not_allowed`, and `phone_node_error`. After that one, or no answer, look
   * into `history` before sending again: it may have been sent.
   */
  async send(body: Body<'send'>): Promise<Answer<'send'>> {
    return this.#transport.call(OPERATION.send, { token: this.#bearer(), body });
  }

  /** Claims what has come in, up to `limit` (20), oldest first: each is given out once. What `waitForMessage` passed over comes first. */
  async receive(query: Query<'receive'> = {}): Promise<Answer<'receive'>> {
    const { messages } = await this.#transport.call(OPERATION.receive, { token: this.#bearer(), query });
    const all = [...(await this.#inbox.takeAll()), ...messages];
    return { messages: all, count: all.length };
  }

  /**
   * Waits for a message that fits `from` and `match`, through restarts of the service. Throws `ApiError` `timeout`, and
   * the reason of `signal`. Others that come meanwhile are claimed, too, and kept for the next wait or `receive`.
   */
  waitForMessage(options: WaitOptions = {}): Promise<InboundMessage> {
    return this.#inbox.wait(options);
  }

  /** Takes what `waitForMessage` claimed and passed over, without asking the service: at the end of a program, to lose none. */
  held(): Promise<InboundMessage[]> {
    return this.#inbox.takeAll();
  }

  /** One page of the history, newest first, 50 unless `limit` says otherwise (100 at most); claims nothing. */
  async messages(query: Query<'messages'> = {}): Promise<Answer<'messages'>> {
    return this.#transport.call(OPERATION.messages, { token: this.#bearer(), query });
  }

  /** All messages, newest first, a page of `limit` (100) at a time as they are asked for; claims nothing. */
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
   * Deletes messages for good, all of them unless the query says which; resolves with how many. Those that nobody has
   * claimed go, too; what comes in meanwhile stays, unless there are more than 100,000.
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
   * Places a call from `phone_number`, the token's own; resolves when the far end rings, which takes seconds. Open its
   * `stream` within 30 s. Throws `phone_node_unreachable` (`details.reason`: `busy`, `no_answer` …), `line_busy`,
   * `destination_not_allowed`, `subscription_not_bound`, `forbidden`, `phone_number_not_found`.
   */
  async dial(body: Body<'dial'>): Promise<Answer<'dial'>> {
    return this.#transport.call(OPERATION.dial, { token: this.#bearer(), body });
  }

  /** Ends a call, or rejects one that rings. Throws `call_not_found`, `phone_node_error`. */
  async hangUp(body: Body<'hangUp'>): Promise<Answer<'hangUp'>> {
    return this.#transport.call(OPERATION.hangUp, { token: this.#bearer(), body });
  }

  /** One page of the list of calls, newest first. */
  async calls(query: Query<'calls'> = {}): Promise<Answer<'calls'>> {
    return this.#transport.call(OPERATION.calls, { token: this.#bearer(), query });
  }

  /** All calls, newest first, a page of `limit` (100) at a time as they are asked for. */
  async *callHistory(query: Query<'calls'> = {}): AsyncGenerator<Call, void> {
    let cursor = query.cursor;
    do {
      const page = await this.calls({ limit: PAGE_LIMIT, ...query, cursor });
      yield* page.calls;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /**
   * The audio of a call, both ways. Opening it answers one that rings, closing it hangs up. A call that is over opens, too,
   * and its `ended` says `call_not_found`.
   */
  async stream(callId: string, options: StreamOptions = {}): Promise<CallStream> {
    return CallStream.open(this.#socketAt('stream', callId), options);
  }

  /**
   * Tells of a number's calls as they ring, are answered and end. Connects again by itself; resolves when `signal` is
   * aborted. Throws `unauthorized`, `forbidden` and `phone_number_not_found`.
   */
  async watchCalls(number: string, options: WatchOptions): Promise<void> {
    return watchPresence(this.#socketAt('presence', number), options);
  }

  // Not `stream_url`: a token goes to nobody but whom the caller named.
  #socketAt(kind: 'stream' | 'presence', name: string): { url: string; token: string } {
    const url = `${this.#transport.baseUrl}/voice/${kind}/${encodeURIComponent(name)}`;
    return { url, token: this.#bearer() };
  }

  #bearer(): string {
    if (this.#token !== undefined) return this.#token;
    const message = 'no token: subscribe, recover, or give one';
    throw new ApiError({ status: 401, code: 'unauthorized', message });
  }
}
