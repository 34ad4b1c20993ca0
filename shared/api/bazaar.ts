// How the number on sale is described to indexes of paid resources: the extension "bazaar" of x402 v2, and `outputSchema` of v1.

/** Made up: a number that is never assigned (area code 206, 555-0100 to 0199). */
const ANSWER = {
  token: 'simrack_…',
  number: '+12065550100',
  expires_at: '2030-01-01T00:00:00.000Z',
  renewed: false,
};

/** The request has no body, which its description writes as an empty one. */
const INPUT = { type: 'http', method: 'POST', bodyType: 'json', body: {} } as const;

/** `PaymentRequired.extensions`: what a client sends and gets, and the schema that checks this description. */
export const EXTENSIONS = {
  bazaar: {
    info: { input: INPUT, output: { type: 'json', example: ANSWER } },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: ['POST'] },
            bodyType: { type: 'string', enum: ['json'] },
            body: { type: 'object' },
          },
          required: ['type', 'method', 'bodyType', 'body'],
          additionalProperties: false,
        },
        output: {
          type: 'object',
          properties: { type: { type: 'string' }, example: { type: 'object' } },
          required: ['type'],
        },
      },
      required: ['input'],
    },
  },
} as const;

/** `accepts[].outputSchema` of v1. */
export const OUTPUT_SCHEMA = { input: { ...INPUT, discoverable: true }, output: ANSWER } as const;

/** For searches in an index, which keeps five. */
const TAGS = ['phone-number', 'sms', 'voice', 'verification-code', 'telephony'] as const;

/** Indexes drop a longer name, or one with other characters. */
const INDEXED_NAME = /^[ -~]{1,32}$/;

/** The seller of the resource, in the form of x402 v2. Leaves out a name that indexes would drop. */
export const sellerOf = (serviceName: string) => ({
  ...(INDEXED_NAME.test(serviceName) ? { serviceName } : {}),
  tags: TAGS,
});
