// A tool: its description for an agent, and the validation, execution and result of a call.
import type {
  CallToolResult,
  ContentBlock,
  Tool as ListedTool,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type * as z from 'zod';
import { refusalSchema } from '#shared/api/answers.ts';
import { type PlainSchema, plainJsonSchema } from '../discovery/json-schemas.ts';
import { check } from '../domain/checked-input.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Claimant } from '../handlers/sms-waits.ts';

/** The caller that a token identifies. */
export interface Caller {
  subscription: Subscription;
  /** Identifies the token. */
  key: string;
  /** Throws `Refusal` `unauthorized` once the token is no longer valid. */
  check(): Promise<unknown>;
}

/** A call that is under way. */
export type ToolCall = Pick<Claimant, 'signal' | 'lost' | 'onProgress'> & {
  /** Adds a part to the result that is no JSON, such as audio. */
  attach(part: ContentBlock): void;
};

/** Hints that an agent may use before it calls. All four are set, because the defaults are the most alarming ones. */
type Annotations = Required<Omit<ToolAnnotations, 'title'>>;

interface ToolParts<I extends z.ZodObject, O extends z.ZodObject, C> {
  name: string;
  title: string;
  description: string;
  input: I;
  output: O;
  annotations: Annotations;
  run(asked: { input: z.output<I>; caller: C; call: ToolCall }): Promise<z.input<O>>;
}

export interface Tool {
  name: string;
  needsBearer: boolean;
  listed: ListedTool;
  /** Throws what the handler throws, and `Refusal` `invalid_request`. */
  run(args: unknown, caller: Caller | undefined, call: ToolCall): Promise<Record<string, unknown>>;
}

export const publicTool = <I extends z.ZodObject, O extends z.ZodObject>(
  parts: ToolParts<I, O, undefined>,
): Tool => {
  const read = readerOf(parts.input);
  return {
    name: parts.name,
    needsBearer: false,
    listed: listed(parts),
    run: async (args, _, call) => parts.run({ input: read(args), caller: undefined, call }),
  };
};

export const bearerTool = <I extends z.ZodObject, O extends z.ZodObject>(
  parts: ToolParts<I, O, Caller>,
): Tool => {
  const read = readerOf(parts.input);
  return {
    name: parts.name,
    needsBearer: true,
    listed: listed(parts),
    async run(args, caller, call) {
      if (caller === undefined) throw new Error('a tool was called without its token');
      return parts.run({ input: read(args), caller, call });
    },
  };
};

/** Integers of a query are text in a URL, and its schema parses text; agents send numbers. */
function readerOf<I extends z.ZodObject>(input: I): (args: unknown) => z.output<I> {
  const { properties = {} } = plainJsonSchema(input);
  const integers = Object.keys(properties).filter((name) => properties[name]?.['type'] === 'integer');
  const asText = (args: object): unknown => ({
    ...args,
    ...Object.fromEntries(
      Object.entries(args).flatMap(([name, value]) =>
        integers.includes(name) && typeof value === 'number' ? [[name, String(value)]] : [],
      ),
    ),
  });
  const schema: z.ZodType = input;
  return (args) =>
    check(schema, typeof args === 'object' && args !== null ? asText(args) : args) as z.output<I>;
}

function listed({
  annotations,
  description,
  input,
  name,
  output,
  title,
}: Omit<ToolParts<z.ZodObject, z.ZodObject, never>, 'run'>): ListedTool {
  return {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: plainJsonSchema(input),
    outputSchema: orRefusal(plainJsonSchema(output)),
    // A JSON Schema, which zod and the SDK type differently.
  } as unknown as ListedTool;
}

/** Some clients validate a refusal against the schema of the answer, so that allows both. A field of both has the form of either. */
function orRefusal({ properties = {}, required = [] }: PlainSchema) {
  const { properties: refused = {}, required: needed } = plainJsonSchema(refusalSchema);
  const shared = Object.entries(properties).filter(([name]) => name in refused);
  const either = shared.map(([name, form]) => [name, { anyOf: [form, refused[name]] }]);
  return {
    type: 'object',
    properties: { ...properties, ...Object.fromEntries(either) },
    anyOf: [
      { ...(shared.length > 0 && { properties: Object.fromEntries(shared) }), required },
      { properties: refused, required: needed },
    ],
  };
}

/** The result as structured content, and the same as text for programs that read only text. */
export const toolResultOf = (
  structuredContent: Record<string, unknown>,
  isError = false,
  parts: readonly ContentBlock[] = [],
): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structuredContent) }, ...parts],
  structuredContent,
  ...(isError ? { isError } : {}),
});
