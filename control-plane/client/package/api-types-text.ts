// The declarations of requests and responses, made from their schemas.
import * as z from 'zod';
import { OPERATION, type Operation } from '#shared/api/operations.ts';
import { presenceEventSchema, STREAM_PROTOCOLS, serverFrameSchema } from '#shared/api/voice-frames.ts';
import { type Schema, typeText } from './type-text.ts';

type Part = 'answer' | 'body' | 'query';

/** Operations whose bodies and queries a caller writes. The client makes the others by itself. */
const BODIES = ['waitlist', 'send', 'dial', 'hangUp', 'addWebhook', 'changeWebhook'] as const;
const QUERIES = ['receive', 'messages', 'deleteMessages', 'calls', 'receipts', 'listDeliveries'] as const;

/** The text of `api-types.d.ts`. */
export function apiTypesText(): string {
  const all = Object.keys(OPERATION) as (keyof typeof OPERATION)[];
  return [
    '// The requests and responses of the API, and the frames on its WebSockets.',
    listOf('Answers', all, 'answer'),
    listOf('Bodies', BODIES, 'body'),
    listOf('Queries', QUERIES, 'query'),
    '/** The response to an operation. */\nexport type Answer<K extends keyof Answers> = Answers[K];',
    'export type Body<K extends keyof Bodies> = Bodies[K];',
    'export type Query<K extends keyof Queries> = Queries[K];',
    `export type ServerFrame = ${typeText(schemaOf(serverFrameSchema))};`,
    `export type StreamProtocol = ${STREAM_PROTOCOLS.map((name) => `'${name}'`).join(' | ')};`,
    `export type PresenceEvent = ${typeText(schemaOf(presenceEventSchema))};\n`,
  ].join('\n\n');
}

function listOf(name: string, keys: readonly (keyof typeof OPERATION)[], part: Part): string {
  const properties = Object.fromEntries(
    keys.map((key) => {
      const operation: Operation = OPERATION[key];
      const schema = operation[part];
      const described = schema === undefined ? { not: {} } : schemaOf(schema, part);
      return [key, { ...described, description: `${operation.method.toUpperCase()} ${operation.path}` }];
    }),
  );
  return `export interface ${name} ${typeText({ type: 'object', properties, required: [...keys] })}`;
}

function schemaOf(schema: z.ZodType, part: Part = 'answer'): Schema {
  const described = z.toJSONSchema(schema, { io: 'input' }) as Schema;
  return part === 'query' ? asQuery(described) : described;
}

/** Every parameter of a query is optional, also undefined, and a time may be a `Date`. */
const asQuery = ({ properties = {}, ...described }: Schema): Schema => ({
  ...described,
  required: [],
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      property.format === 'date-time' ? { ...property, isDate: true } : property,
    ]),
  ),
});
