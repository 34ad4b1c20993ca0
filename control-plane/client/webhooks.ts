// The webhooks of a number: methods of the client.
import {
  type AnswerOf,
  type BodyOf,
  OPERATION,
  type Operation,
  type ParamsOf,
  type QueryOf,
} from '#shared/api/operations.ts';
import type { Answer, Body, Query } from './api-types.ts';
import type { Transport } from './transport.ts';

export type Webhook = Answer<'listWebhooks'>['webhooks'][number];
export type WebhookDelivery = Answer<'listDeliveries'>['deliveries'][number];

/** Defaults of a new webhook may be left out. */
type NewWebhook = Partial<Body<'addWebhook'>> & { url: string };
export type WebhookChange = Body<'changeWebhook'>;
/** One delivery, or all events since a time. */
type Replay = { delivery_id: number } | { since: Date };

/** The maximum of a page. */
const PAGE_LIMIT = 100;

/** Methods with an id throw `webhook_not_found`. */
export class WebhooksClient {
  readonly #transport: Transport;
  readonly #bearer: () => string;

  /** @internal */
  constructor(transport: Transport, bearer: () => string) {
    this.#transport = transport;
    this.#bearer = bearer;
  }

  /**
   * Has events posted to `url`: all of them, or `events`. Store the `secret` of the answer: it is not shown again. With `claim`, a text that
   * the receiver took is claimed. Throws `webhook_url_not_allowed`, `webhook_limit_reached`.
   */
  add(webhook: NewWebhook): Promise<Answer<'addWebhook'>> {
    return this.#call(OPERATION.addWebhook, { body: webhook as BodyOf<typeof OPERATION.addWebhook> });
  }

  /** All webhooks, oldest first, with what is wrong with them. */
  async list(): Promise<Webhook[]> {
    return (await this.#call(OPERATION.listWebhooks, {})).webhooks;
  }

  /** Changes what is given. `enabled: true` also sends what waited. Throws `webhook_url_not_allowed`. */
  change(id: string, change: WebhookChange): Promise<Webhook> {
    return this.#call(OPERATION.changeWebhook, { params: { id }, body: change });
  }

  /** Deletes a webhook with everything that waits for it. */
  async remove(id: string): Promise<void> {
    await this.#call(OPERATION.deleteWebhook, { params: { id } });
  }

  /** A new secret. The old one signs too for 24 hours. */
  rotate(id: string): Promise<Answer<'rotateWebhook'>> {
    return this.#call(OPERATION.rotateWebhook, { params: { id } });
  }

  /** Sends a test event, and resolves with what the receiver answered. */
  test(id: string): Promise<Answer<'testWebhook'>> {
    return this.#call(OPERATION.testWebhook, { params: { id }, timeoutMs: TEST_TIMEOUT_MS });
  }

  /** The deliveries of the last week, newest first, fetched in pages of `limit` (100) on demand. */
  async *deliveries(id: string, query: Query<'listDeliveries'> = {}): AsyncGenerator<WebhookDelivery, void> {
    let cursor = query.cursor;
    do {
      const page = await this.#call(OPERATION.listDeliveries, {
        params: { id },
        query: { limit: PAGE_LIMIT, ...query, cursor },
      });
      yield* page.deliveries;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Sends again; resolves with how many deliveries. Throws `webhook_delivery_not_found`. */
  async replay(id: string, what: Replay): Promise<number> {
    const body = what as BodyOf<typeof OPERATION.replayWebhook>;
    return (await this.#call(OPERATION.replayWebhook, { params: { id }, body })).queued;
  }

  #call<O extends Operation>(
    operation: O,
    parts: {
      params?: ParamsOf<O>;
      body?: BodyOf<O>;
      query?: Partial<NonNullable<QueryOf<O>>>;
      timeoutMs?: number;
    },
  ): Promise<AnswerOf<O>> {
    return this.#transport.call(operation, { token: this.#bearer(), ...parts });
  }
}

/** Longer than a receiver may take. */
const TEST_TIMEOUT_MS = 90_000;
