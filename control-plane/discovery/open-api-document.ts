// The API as OpenAPI 3.1, generated from the schemas that validate its requests.
import type { ZodType } from 'zod';
import * as answers from '#shared/api/answers.ts';
import { OPERATION, type Operation, refusalsOf } from '#shared/api/operations.ts';
import { caip2 } from '#shared/api/payment-networks.ts';
import { REFUSALS, type RefusalCode } from '#shared/api/refusals.ts';
import { webhookBodySchema } from '#shared/api/webhooks.ts';
import type { Sale } from '../payments/offer.ts';
import { componentSchemas, queryFields, referenceTo } from './json-schemas.ts';
import type { DiscoveryParts } from './well-known.ts';

type Json = Record<string, unknown>;

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const TAGS = {
  service: 'About the service: catalog, availability, waitlist and demo',
  subscription: 'Buying a number with a wallet, and getting tokens',
  sms: 'Text messages',
  voice: 'Calls; their audio and presence are WebSockets, described in /asyncapi.json',
  webhooks: 'Received texts, statuses and calls, posted to a URL as they occur',
};

export function openApiDocument(parts: DiscoveryParts): Json {
  const { baseUrl, sale, serviceName } = parts;
  const paths: Record<string, Json> = {};
  for (const operation of Object.values(OPERATION) as Operation[])
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation, sale) };
  return {
    openapi: '3.1.0',
    info: {
      title: serviceName,
      version: '1.0.0',
      summary: sale.description,
      description:
        'Pay with a wallet at POST /subscribe, keep the token, then text and call. To replace a lost token, sign in: ' +
        'POST /auth/nonce, then POST /auth. Switch on the `error` of a refusal, never on its message. ' +
        'Clients that prefer `application/problem+json` get refusals as RFC 9457 problems.',
      contact: { name: serviceName, url: baseUrl },
      license: { name: 'Proprietary', url: baseUrl },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooksOf(),
    components: {
      schemas: componentSchemas(),
      responses: sharedRefusals(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of POST /subscribe or POST /auth.',
        },
      },
      headers: {
        RetryAfter: { description: 'Seconds.', schema: { type: 'integer', minimum: 0 } },
        RateLimit: {
          description:
            'For each policy that applies: `r` requests are left, and at least one more is allowed in `t` seconds. The header has the same form on 200, 401 and 429.',
          schema: { type: 'string', examples: ['"token";r=1199;t=63'] },
        },
        RateLimitPolicy: {
          description: 'The policies by name: `q` requests in any `w` seconds.',
          schema: { type: 'string', examples: ['"token";q=1200;w=60'] },
        },
      },
    },
    'x-service-info': { categories: ['communication', 'telephony'], docs: { llms: `${baseUrl}/llms.txt` } },
  };
}

/** The requests that the service sends to the URLs of POST /webhooks. */
function webhooksOf(): Json {
  const header = (name: string, description: string): Json => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  const post = {
    operationId: 'receiveEvent',
    tags: ['webhooks'],
    summary: 'An event of your number',
    security: [],
    description:
      'Signed as Standard Webhooks (https://www.standardwebhooks.com) specify: verify the signature over the raw body, and refuse old timestamps. ' +
      'Events come at least once, in order unless an attempt fails or hangs. Answer 2xx at once; 410 disables the webhook.',
    parameters: [
      header('webhook-id', 'The same at every attempt and replay of an event: ignore one that you have.'),
      header('webhook-timestamp', 'Seconds since the Unix epoch, of this attempt.'),
      header('webhook-signature', 'Signatures `v1,…`, separated by spaces: two for a day after a rotation.'),
    ],
    requestBody: { required: true, content: { [JSON_TYPE]: { schema: referenceTo(webhookBodySchema) } } },
    responses: { '2XX': { description: 'The event is delivered.' } },
  };
  return { event: { post } };
}

function describe(operation: Operation, sale: Sale): Json {
  const { answer, body, description, id, summary, tag } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf(operation),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: Object.fromEntries(
              [JSON_TYPE, ...(operation.hasPage === true ? [FORM_TYPE] : [])].map((type) => [
                type,
                { schema: referenceTo(body) },
              ]),
            ),
          },
        }),
    responses: {
      ...(answer === undefined
        ? { '204': { description: 'Done. The response has no body.', headers: RATE_LIMIT } }
        : { '200': done(operation, answer) }),
      ...(operation.auth === 'payment' ? { '402': challenge() } : {}),
      ...refusals(refusalsOf(operation)),
    },
    ...(operation.auth === 'payment' ? { 'x-payment-info': paymentInfo(sale) } : {}),
  };
}

const done = (operation: Operation, answer: ZodType): Json => ({
  description: 'Done.',
  headers: { ...RATE_LIMIT, ...(operation.auth === 'payment' ? RECEIPTS : {}) },
  content: {
    [JSON_TYPE]: { schema: referenceTo(answer) },
    ...(operation.hasPage === true ? { 'text/html': { schema: { type: 'string' } } } : {}),
  },
});

/** The headers of x402. MPP has `Authorization`, which OpenAPI does not allow as a parameter. */
const PAYMENT_HEADERS: Json[] = [
  ['X-PAYMENT', 'Payment of x402 version 1, base64.'],
  ['PAYMENT-SIGNATURE', 'Payment of x402 version 2, base64.'],
].map(([name, description]) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
}));

const parametersOf = ({ auth, params, query }: Operation): Json[] => [
  ...(auth === 'payment' ? PAYMENT_HEADERS : []),
  ...(params === undefined
    ? []
    : queryFields(params).map(({ name, schema }) => ({ name, in: 'path', required: true, schema }))),
  ...(query === undefined
    ? []
    : queryFields(query).map(({ name, schema, isRequired }) => ({
        name,
        in: 'query',
        required: isRequired,
        schema,
      }))),
];

/** A payment is not a security scheme: generated clients would send the token in its header. */
function securityOf({ auth }: Operation): Json[] {
  return auth === 'bearer' ? [{ bearer: [] }] : [];
}

/** All refusals with the same status are one response. One with a single code is written once, for all operations. */
function refusals(codes: readonly RefusalCode[]): Json {
  return Object.fromEntries(
    byStatus(codes).map(([status, some]) => {
      const [only, ...others] = some;
      const isShared = only !== undefined && others.length === 0;
      return [String(status), isShared ? { $ref: `#/components/responses/${only}` } : refusal(status, some)];
    }),
  );
}

/** The responses that `refusals` refers to. */
function sharedRefusals(): Json {
  const single = (Object.values(OPERATION) as Operation[])
    .flatMap((operation) => byStatus(refusalsOf(operation)))
    .filter(([, codes]) => codes.length === 1);
  return Object.fromEntries(
    single.flatMap(([status, codes]) => codes.map((code) => [code, refusal(status, codes)])),
  );
}

function byStatus(codes: readonly RefusalCode[]): Array<[number, RefusalCode[]]> {
  const found = new Map<number, RefusalCode[]>();
  for (const code of codes) {
    const { status } = REFUSALS[code];
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return [...found];
}

function refusal(status: number, codes: readonly RefusalCode[]): Json {
  const headers = {
    ...(status === 429 || status === 503 ? RETRY_AFTER : {}),
    ...(status === 429 || status === 401 ? RATE_LIMIT : {}),
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${REFUSALS[code].meaning}`).join('\n\n'),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: {
      [JSON_TYPE]: {
        schema: {
          allOf: [referenceTo(answers.detailedRefusalSchema)],
          properties: { error: { type: 'string', enum: codes } },
        },
      },
    },
  };
}

const RETRY_AFTER: Json = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

const RATE_LIMIT: Json = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
};

/** Headers with the result of a payment; its version of x402 says which. */
const X402_RESULTS: Json = Object.fromEntries(
  ['X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE'].map((name) => [
    name,
    { description: 'The result of a payment of x402, in base64.', schema: { type: 'string' } },
  ]),
);
const RECEIPTS: Json = {
  ...X402_RESULTS,
  'Payment-Receipt': { description: 'The receipt of MPP, in base64url.', schema: { type: 'string' } },
};

const challenge = (): Json => ({
  description:
    'All payment options: in the body for x402 version 1, in `PAYMENT-REQUIRED` for version 2, in `WWW-Authenticate` for MPP.',
  headers: {
    'PAYMENT-REQUIRED': { description: 'x402 version 2, base64.', schema: { type: 'string' } },
    'WWW-Authenticate': { description: 'MPP challenges.', schema: { type: 'string' } },
    ...X402_RESULTS,
  },
  content: { [JSON_TYPE]: { schema: referenceTo(answers.challengeSchema) } },
});

/** draft-payment-discovery-00: the price that a registry shows before a client calls. */
const paymentInfo = ({ offers }: Sale): Json => ({
  offers: offers.map(({ amountAtomic, asset, chainId }) => ({
    intent: 'charge',
    method: 'evm',
    amount: String(amountAtomic),
    currency: asset,
    network: caip2(chainId),
  })),
});
