// One request of an operation: the shared schemas serialize its query and body, and validate its response.
import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '#shared/api/operations.ts';
import { jsonOf } from '#shared/json.ts';
import { allowedKeys } from '#shared/process/suggestion.ts';
import { startOfBody } from '#shared/response-body.ts';
import { ApiError, errorOfAnswer, noAnswer } from './api-error.ts';
import type { TimesAsText } from './api-types.ts';
import { checkFields, checkText } from './checked-options.ts';
import type { RawAnswer } from './payments/offer.ts';

/** For operations that wait for a block, the carrier or a ringing far end. */
const SLOW_TIMEOUT_MS = 120_000;
const TIMEOUT_MS = 30_000;
const SLOW: ReadonlySet<string> = new Set(['/subscribe', '/sms/send', '/voice/dial']);

/** The longest response that is read. */
const ANSWER_MIB_MAX = 16;

/** Methods of the library whose names are not the id of their operation. */
const METHOD_NAMES: Readonly<Record<string, string>> = {
  sendSms: 'send',
  receiveSms: 'receive',
  listMessages: 'messages',
  dialCall: 'dial',
  hangUpCall: 'hangUp',
  listCalls: 'calls',
  listReceipts: 'receipts',
  addWebhook: 'webhooks.add',
  changeWebhook: 'webhooks.change',
  deleteWebhook: 'webhooks.remove',
  rotateWebhookSecret: 'webhooks.rotate',
  testWebhook: 'webhooks.test',
  listWebhookDeliveries: 'webhooks.deliveries',
  replayWebhook: 'webhooks.replay',
};

interface RequestParts {
  body?: unknown;
  query?: object | undefined;
  params?: object | undefined;
  headers?: Readonly<Record<string, string>>;
  token?: string | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

interface OperationParts<O extends Operation> extends Omit<RequestParts, 'params'> {
  body?: BodyOf<O>;
  query?: TimesAsText<Partial<NonNullable<QueryOf<O>>>>;
  params?: ParamsOf<O>;
}

export class Transport {
  /** Without a trailing slash. */
  readonly baseUrl: string;

  /** Throws `TypeError` for an invalid URL. */
  constructor(baseUrl: string) {
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
      throw new TypeError(`not an HTTP URL, such as https://host: ${baseUrl}`);
    this.baseUrl = baseUrl.replace(/\/+$/, '');
  }

  /** Throws `ApiError` for everything except the response that the operation promises, and `TypeError` for a wrong argument. */
  async call<O extends Operation>(operation: O, parts: OperationParts<O> = {}): Promise<AnswerOf<O>> {
    const { body, query } = operation;
    const method = METHOD_NAMES[operation.id] ?? operation.id;
    if (body !== undefined) checkFields(method, parts.body, allowedKeys(body, []));
    if (query !== undefined && parts.query !== undefined)
      checkFields(method, parts.query, Object.keys(query.shape));
    if ('id' in (parts.params ?? {})) checkText(method, 'id', String(Object(parts.params).id ?? ''));
    return answerOf(operation, await this.ask(operation, parts));
  }

  /** Throws `ApiError` only without a response, and the reason of `signal` when it is aborted. */
  async ask(operation: Pick<Operation, 'method' | 'path'>, parts: RequestParts = {}): Promise<RawAnswer> {
    const { method } = operation;
    const path = pathOf(operation, parts.params);
    const { body, query, headers, token, signal } = parts;
    const timeout = AbortSignal.timeout(parts.timeoutMs ?? (SLOW.has(path) ? SLOW_TIMEOUT_MS : TIMEOUT_MS));
    try {
      const response = await fetch(this.baseUrl + path + searchOf(query), {
        method: method.toUpperCase(),
        // A token or a payment must not be sent to another host. Not `error`, which Cloudflare Workers do not know.
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        headers: {
          Accept: 'application/json',
          ...headers,
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (isRedirect(response)) throw new Error('unexpected redirect: is it the URL of the service?');
      const { text, isWhole } = await startOfBody(response, ANSWER_MIB_MAX * 1024 * 1024);
      if (!isWhole)
        throw noAnswer('invalid_answer', `${path}: the response is longer than ${ANSWER_MIB_MAX} MiB`);
      return { status: response.status, headers: response.headers, json: jsonOf(text) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError) throw error;
      if (timeout.aborted) throw noAnswer('timeout', `${method} ${path}: no response in time`, error);
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw noAnswer('unreachable', `${this.baseUrl}: ${String((cause as Error).message)}`, error);
    }
  }
}

// A browser hides the status.
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

/** Throws `ApiError` unless it is the promised response. */
export function answerOf<O extends Operation>(
  operation: O,
  { status, headers, json }: RawAnswer,
): AnswerOf<O> {
  if (status !== (operation.answer === undefined ? 204 : 200))
    throw errorOfAnswer(status, json, headers.get('retry-after'));
  if (operation.answer === undefined) return undefined as AnswerOf<O>;
  const parsed = operation.answer.safeParse(json);
  if (parsed.success) return json as AnswerOf<O>;
  const [issue] = parsed.error.issues;
  throw noAnswer('invalid_answer', `${operation.path}: ${issue?.path.join('.')}: ${issue?.message}`);
}

const pathOf = ({ path }: Pick<Operation, 'path'>, params: object = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String((params as Record<string, unknown>)[name])),
  );

function searchOf(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}
