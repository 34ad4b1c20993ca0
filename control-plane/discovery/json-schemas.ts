// The schemas of the API as JSON Schema, draft 2020-12, which OpenAPI 3.1 uses.
import * as z from 'zod';
import * as answers from '#shared/api/answers.ts';
import * as callAnswers from '#shared/api/call-answers.ts';
import { walletReceiptsSchema } from '#shared/api/receipt-operations.ts';
import * as receipts from '#shared/api/receipts.ts';
import * as requests from '#shared/api/requests.ts';
import * as webhooks from '#shared/api/webhooks.ts';

type JsonSchema = Record<string, unknown>;

/** Schemas by their names in the description of the API. */
const NAMED = {
  Catalog: answers.catalogSchema,
  Challenge: answers.challengeSchema,
  AcceptedPayment: answers.acceptedPaymentSchema,
  Subscribed: answers.subscribedSchema,
  Nonce: answers.nonceSchema,
  SignedIn: answers.signedInSchema,
  Availability: answers.availabilitySchema,
  Waitlisted: answers.waitlistedSchema,
  Demo: answers.demoSchema,
  Subscription: answers.subscriptionSchema,
  SmsSent: answers.sentSchema,
  InboundMessage: answers.inboundMessageSchema,
  Received: answers.receivedSchema,
  HistoryMessage: answers.historyMessageSchema,
  History: answers.historySchema,
  Deleted: answers.deletedSchema,
  Dialled: callAnswers.dialledSchema,
  HungUp: callAnswers.hungUpSchema,
  Call: callAnswers.callSchema,
  Calls: callAnswers.callsSchema,
  Receipt: receipts.receiptSchema,
  Receipts: receipts.receiptsSchema,
  ReceiptKeys: receipts.receiptKeysSchema,
  WalletReceiptsRequest: walletReceiptsSchema,
  Refusal: answers.detailedRefusalSchema,
  Webhook: webhooks.webhookSchema,
  WebhookCreated: webhooks.webhookCreatedSchema,
  WebhookList: webhooks.webhooksSchema,
  WebhookRotated: webhooks.webhookRotatedSchema,
  WebhookTested: webhooks.webhookTestedSchema,
  WebhookDelivery: webhooks.webhookDeliverySchema,
  WebhookDeliveries: webhooks.webhookDeliveriesSchema,
  WebhookReplayed: webhooks.webhookReplayedSchema,
  WebhookBody: webhooks.webhookBodySchema,
  WebhookRequest: webhooks.webhookRequestSchema,
  WebhookChange: webhooks.webhookChangeSchema,
  WebhookReplay: webhooks.webhookReplaySchema,
  NonceRequest: requests.nonceRequestSchema,
  AuthRequest: requests.authRequestSchema,
  WaitlistRequest: requests.waitlistRequestSchema,
  SmsSendRequest: requests.smsSendRequestSchema,
  DialRequest: requests.dialRequestSchema,
  HangUpRequest: requests.hangUpRequestSchema,
} as const satisfies Record<string, z.ZodType>;

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });

/** Removes redundant patterns: next to a format a pattern repeats it, and for an integer a pattern of digits says nothing. */
function plain({ jsonSchema, zodSchema }: { jsonSchema: JsonSchema; zodSchema: z.core.$ZodType }): void {
  // For values parsed from text zod omits the default, because its type may differ from text.
  const { default: fallback } = z.globalRegistry.get(zodSchema) ?? {};
  if (fallback !== undefined) jsonSchema['default'] = fallback;
  if (jsonSchema['format'] !== undefined || jsonSchema['type'] === 'integer') delete jsonSchema['pattern'];
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
}

const REFERENCE = '#/components/schemas/';

/** All named schemas. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    override: plain,
    uri: (id: string) => REFERENCE + id,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [
      name,
      withDefaultsInWords(schema),
    ]),
  );
}

/** Some generators of clients require each field that has a default, in requests too. */
function withDefaultsInWords(schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] as Record<string, JsonSchema> | undefined;
  if (properties === undefined) return schema;
  const inWords = ({ default: fallback, description, ...field }: JsonSchema): JsonSchema =>
    fallback === undefined
      ? { ...field, ...(description === undefined ? {} : { description }) }
      : {
          ...field,
          description: `${description ?? ''} Default: \`${JSON.stringify(fallback)}\`.`.trimStart(),
        };
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, inWords(field)])),
  };
}

/** The reference to a schema in the description. Throws for a schema without a name. */
export function referenceTo(schema: z.ZodType): { $ref: string } {
  const id = registry.get(schema)?.id;
  if (id === undefined) throw new Error('a schema of the API has no name');
  return { $ref: REFERENCE + id };
}

export interface PlainSchema extends JsonSchema {
  type: 'object';
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** Every tool has the schema of a refusal, and several have the same input: to translate one takes milliseconds. */
const plainSchemas = new WeakMap<z.ZodType, JsonSchema>();

/** A schema for inline use, frozen. Its dialect is not declared: some readers of 2020-12 do not know the name. */
export function plainJsonSchema(schema: z.ZodObject): PlainSchema;
export function plainJsonSchema(schema: z.ZodType): JsonSchema;
export function plainJsonSchema(schema: z.ZodType): JsonSchema {
  const translated = plainSchemas.get(schema) ?? translate(schema);
  plainSchemas.set(schema, translated);
  return translated;
}

function translate(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', override: plain });
  return JSON.parse(JSON.stringify(json), (_key, value) => Object.freeze(oneTypeEach(value))) as JsonSchema;
}

/** Some model interfaces support only one type per schema. */
function oneTypeEach(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value)) return value;
  const { type, ...rest } = value;
  return Array.isArray(type) ? { ...rest, anyOf: type.map((each: unknown) => ({ type: each })) } : value;
}

/** The fields of a query, each with its own schema. */
export function queryFields(query: z.ZodObject): { name: string; schema: JsonSchema; isRequired: boolean }[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input', override: plain });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: schema as JsonSchema,
    isRequired: required.includes(name),
  }));
}
