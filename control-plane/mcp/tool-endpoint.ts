// The tool endpoint (MCP): old and new versions of the protocol with the same tools, without sessions.
import {
  type ContentBlock,
  createMcpHandler,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Base } from '../bus/base.ts';
import type { ServicesParts } from '../handlers/services.ts';
import { numberTools, type SmsToolParts, serviceTools, smsTools } from './all-tools.ts';
import { type CallToolParts, callTools } from './call-tools.ts';
import { Cancellations, type ToolSession } from './cancellations.ts';
import { type DirectResult, DirectServer } from './direct-server.ts';
import { type Caller, type Tool, type ToolCall, toolResultOf } from './tool.ts';

export type ToolEndpointParts = SmsToolParts & ServicesParts & CallToolParts & Pick<Base, 'bus' | 'log'>;

/** A request that has passed the checks of HTTP. */
interface ToolRequest {
  request: Request;
  /** The parsed body. */
  message: unknown;
  caller: Caller | undefined;
  /** Set for a client with a session: it may cancel calls by a message. */
  session: ToolSession | undefined;
  /** Aborts when the connection was lost before the whole response was sent. */
  lost: AbortSignal;
  /** The result for a refusal, or for an internal error. */
  explain(error: unknown): Record<string, unknown>;
}

interface ServedRequest {
  request: ToolRequest;
  onResult(result: DirectResult): void;
}

export interface ToolEndpoint {
  /** Whether any of the calls in the body needs a token. */
  needsBearer(message: unknown): boolean;
  answer(request: ToolRequest): Promise<Response | DirectResult>;
}

/** The tools change only with the program. */
const CACHE_MS = 3_600_000;

/** Why this service lacks a tool that others have. */
const NOT_OFFERED: Readonly<Record<string, string>> = { say: '. No voice is configured (SPEECH_COMMAND)' };

const instructionsOf = ({ canSpeak }: CallToolParts): string =>
  'Real US mobile numbers, paid for by wallet. list_services shows the price and needs no token; ' +
  'all other tools except check_availability and split_text need the token of a subscription in the Authorization header. To get a code by SMS, give the number of get_number ' +
  `to the sender, then call wait_for_code. To talk on a call, use dial_call or wait_for_call, then ${canSpeak ? 'say and listen' : 'listen, or open its WebSocket to speak too'}.`;

export function createToolEndpoint(parts: ToolEndpointParts): ToolEndpoint {
  const tools = [...serviceTools(parts), ...smsTools(parts), ...numberTools(), ...callTools(parts)];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = tools.map((tool) => tool.listed);
  const requests = new WeakMap<Request, ServedRequest>();
  const cancellations = new Cancellations(parts.bus);
  const info = { name: 'simrack', title: parts.serviceName, version: '1.0.0', websiteUrl: parts.baseUrl };
  const options: ServerOptions = {
    capabilities: { tools: {} },
    instructions: instructionsOf(parts),
    cacheHints: {
      'tools/list': { ttlMs: CACHE_MS, cacheScope: 'public' },
      'server/discover': { ttlMs: CACHE_MS, cacheScope: 'public' },
    },
    // Shared, because a new validator costs more than the rest of a request. It would validate a server's requests to the client, and this
    // server sends none.
    jsonSchemaValidator: new AjvJsonSchemaValidator(),
  };
  const createServer: McpServerFactory = ({ era, requestInfo }) => {
    const served = requestInfo && requests.get(requestInfo);
    // Clients of earlier revisions get a stream.
    const server =
      era === 'modern' && served !== undefined
        ? new DirectServer(info, options, served.onResult)
        : new Server(info, options);
    server.setRequestHandler('tools/list', () => ({ tools: listed }));
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const tool = byName.get(params.name);
      if (tool === undefined)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `unknown tool: ${params.name}${NOT_OFFERED[params.name] ?? ''}`,
        );
      if (served === undefined) throw new Error('a call without its request');
      const { lost, session } = served.request;
      const given = session && cancellations.signalOf(session, context.mcpReq.id);
      return run(tool, params.arguments ?? {}, served.request, callOf(context, lost, given));
    });
    return server;
  };
  const handler = createMcpHandler(createServer, {
    // The message of the error would repeat the request.
    onerror: ({ name }) => parts.log.debug({ error: name }, 'tool request refused or ended early'),
  });
  return {
    needsBearer: (message) => callsIn(message).some((name) => byName.get(name)?.needsBearer === true),
    answer(request) {
      const { message, session } = request;
      if (session !== undefined) for (const id of cancelledIn(message)) cancellations.cancel(session, id);
      return new Promise((resolve, reject) => {
        requests.set(request.request, { request, onResult: resolve });
        handler.fetch(request.request, { parsedBody: message }).then(resolve, reject);
      });
    },
  };
}

interface Message {
  method?: unknown;
  params?: Readonly<Record<string, unknown>> | null;
}

/** One message, or those of a batch (revision 2025-03-26). */
export const membersOf = (message: unknown): Message[] =>
  (Array.isArray(message) ? message : [message]).map((each: unknown) => (each ?? {}) as Message);

/** Names of the tools that a body calls; an empty name for what is no text. */
export const callsIn = (message: unknown): string[] =>
  membersOf(message).flatMap(({ method, params }) => {
    const name = params?.['name'];
    return method === 'tools/call' ? [typeof name === 'string' ? name : ''] : [];
  });

/** Ids of the requests that a body cancels. */
export function cancelledIn(message: unknown): (string | number)[] {
  return membersOf(message).flatMap(({ method, params }) => {
    const id = params?.['requestId'];
    const isId = typeof id === 'string' || typeof id === 'number';
    return method === 'notifications/cancelled' && isId ? [id] : [];
  });
}

/** `given`: aborts when the client cancels the call by a message. The client does not read the response then. */
function callOf(
  { mcpReq }: ServerContext,
  lost: AbortSignal,
  given: AbortSignal | undefined,
): Omit<ToolCall, 'attach'> {
  const { signal } = mcpReq;
  const onProgress = progressOf(mcpReq);
  if (given === undefined) return { signal, lost, onProgress };
  return { signal: AbortSignal.any([signal, given]), lost: AbortSignal.any([lost, given]), onProgress };
}

async function run(
  tool: Tool,
  args: unknown,
  { caller, explain }: ToolRequest,
  call: Omit<ToolCall, 'attach'>,
) {
  const parts: ContentBlock[] = [];
  try {
    const answer = await tool.run(args, caller, { ...call, attach: (part) => parts.push(part) });
    return toolResultOf(answer, false, parts);
  } catch (error) {
    // The client has disconnected.
    if (call.signal.aborted) throw error;
    return toolResultOf(explain(error), true);
  }
}

function progressOf({ _meta, notify }: ServerContext['mcpReq']): ToolCall['onProgress'] {
  const token = _meta?.progressToken;
  if (token === undefined) return () => undefined;
  return (seconds) => {
    const params = { progressToken: token, progress: seconds, message: `waited ${seconds} s so far` };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
