// The service for an agent in code: one method for each operation, and what is made of several.
import type { LocalAccount } from 'viem/accounts';
import { type AnswerOf, type BodyOf, OPERATION, type QueryOf } from '#shared/api/operations.ts';
import { ApiError } from './api-error.ts';
import { CallStream, type StreamOptions } from './call-stream.ts';
import { type InboundMessage, Inbox, type WaitOptions } from './inbox.ts';
import { type WatchOptions, watchPresence } from './presence-watch.ts';
import { type Purchase, type PurchaseOptions, purchase } from './purchase.ts';
import { Transport } from './transport.ts';

type Answer<K extends keyof typeof OPERATION> = AnswerOf<(typeof OPERATION)[K]>;
type Body<K extends keyof typeof OPERATION> = BodyOf<(typeof OPERATION)[K]>;
type Query<K extends 'receive' | 'messages' | 'calls'> = Partial<QueryOf<(typeof OPERATION)[K]>>;

export type HistoryMessage = Answer<'messages'>['messages'][number];
export type Call = Answer<'calls'>['calls'][number];

/** The most that a page has. */
const PAGE_LIMIT = 100;

/** Every "no", and every failure to get an answer, is an `ApiError`. */
export class SimrackClient {
  readonly #transport: Transport;
  readonly #inbox: Inbox;
  #token: string | undefined;

  constructor({ baseUrl, token }: { baseUrl: string; token?: string | undefined }) {
    this.#transport = new Transport(baseUrl);
    this.#token = token;
    this.#inbox = new Inbox(async (signal) => {
      const { messages } = await this.#transport.call(OPERATION.receive, {
        ...{ token: this.#bearer(), query: { limit: PAGE_LIMIT }, signal },
      });
      return messages;
    });
  }

  /** Of the last purchase or recovery, or the one that was given. */
  get token(): string | undefined {
    return this.#token;
  }

  catalog(): Promise<Answer<'catalog'>> {
    return this.#transport.call(OPERATION.catalog);
  }

  availability(): Promise<Answer<'availability'>> {
    return this.#transport.call(OPERATION.availability);
  }

  joinWaitlist(body: Body<'waitlist'>): Promise<Answer<'waitlist'>> {
    return this.#transport.call(OPERATION.waitlist, { body });
  }

  demo(): Promise<Answer<'demo'>> {
    return this.#transport.call(OPERATION.demo);
  }

  /** Pays for a year with the caller's wallet, up to `maxAmount`, once whatever happens; takes the token into use. */
  async subscribe(options: PurchaseOptions): Promise<Purchase> {
    const bought = await purchase(this.#transport, options, () => this.recover(options.account));
    this.#token = bought.token;
    return bought;
  }

  /** A new token for the wallet's signature; all older ones are revoked. */
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

  async number(): Promise<Answer<'number'>> {
    return this.#transport.call(OPERATION.number, { token: this.#bearer() });
  }

  /** After a failure without an answer look into `history` before sending again: it may have been sent. */
  async send(body: Body<'send'>): Promise<Answer<'send'>> {
    return this.#transport.call(OPERATION.send, { token: this.#bearer(), body });
  }

  /** Claims what has come in; what `waitForMessage` passed over comes first. */
  async receive(query: Query<'receive'> = {}): Promise<Answer<'receive'>> {
    const { messages } = await this.#transport.call(OPERATION.receive, { token: this.#bearer(), query });
    const all = [...this.#inbox.takeAll(), ...messages];
    return { messages: all, count: all.length };
  }

  /** The first message that fits. Throws `ApiError` `timeout`; others that came are kept for the next call. */
  waitForMessage(options: WaitOptions): Promise<InboundMessage> {
    return this.#inbox.wait(options);
  }

  /** Takes what `waitForMessage` claimed and passed over, without asking the service. */
  held(): InboundMessage[] {
    return this.#inbox.takeAll();
  }

  /** One page. */
  async messages(query: Query<'messages'> = {}): Promise<Answer<'messages'>> {
    return this.#transport.call(OPERATION.messages, { token: this.#bearer(), query });
  }

  /** All messages, newest first, a page at a time as they are asked for. */
  async *history(query: Query<'messages'> = {}): AsyncGenerator<HistoryMessage, void> {
    let cursor = query.cursor;
    do {
      const page = await this.messages({ limit: PAGE_LIMIT, ...query, cursor });
      yield* page.messages;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async dial(body: Body<'dial'>): Promise<Answer<'dial'>> {
    return this.#transport.call(OPERATION.dial, { token: this.#bearer(), body });
  }

  async hangUp(body: Body<'hangUp'>): Promise<Answer<'hangUp'>> {
    return this.#transport.call(OPERATION.hangUp, { token: this.#bearer(), body });
  }

  /** One page. */
  async calls(query: Query<'calls'> = {}): Promise<Answer<'calls'>> {
    return this.#transport.call(OPERATION.calls, { token: this.#bearer(), query });
  }

  /** All calls, newest first. */
  async *callHistory(query: Query<'calls'> = {}): AsyncGenerator<Call, void> {
    let cursor = query.cursor;
    do {
      const page = await this.calls({ limit: PAGE_LIMIT, ...query, cursor });
      yield* page.calls;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** The audio of a call. Opening it answers one that rings, closing it hangs up. */
  async stream(callId: string, options: StreamOptions = {}): Promise<CallStream> {
    return CallStream.open(this.#socketAt('stream', callId), options);
  }

  /** Told of a number's calls until `signal` is aborted, through every restart; see `watchPresence`. */
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
