// The tool endpoint (MCP): both eras of the protocol on one set of tools, without sessions.

import {
  createMcpHandler,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Logger } from '#shared/log.ts';
import type { ServicesParts } from '../handlers/services.ts';
import type { VoiceParts } from '../handlers/voice.ts';
import { numberTools } from './number-tools.ts';
import { serviceTools } from './service-tools.ts';
import { type SmsToolParts, smsTools } from './sms-tools.ts';
import { type Call, type Caller, resultOf, type Tool } from './tool.ts';

export interface ToolEndpointParts extends SmsToolParts, ServicesParts, VoiceParts {
  log: Logger;
}

/** A request, checked as far as HTTP goes. */
export interface ToolRequest {
  request: Request;
  /** Its body, parsed. */
  message: unknown;
  caller: Caller | undefined;
  /** Aborted when the connection was lost before all of the answer had left. */
  lost: AbortSignal;
  /** What a refusal, or a failure of ours, is answered with. */
  explain(error: unknown): Record<string, unknown>;
}

export interface ToolEndpoint {
  /** Whether one of the calls in the body needs a token. */
  needsBearer(message: unknown): boolean;
  answer(request: ToolRequest): Promise<Response>;
}

/** Tools change with the program only. */
const CACHE_MS = 3_600_000;

const INSTRUCTIONS =
  'Real US mobile numbers, paid for by wallet. list_services tells the price and needs no token; all other tools but ' +
  'check_availability need the token of a subscription in the Authorization header. To get a code by SMS: give get_number’s ' +
  'number to the sender, then call receive_sms with wait_seconds.';

export function createToolEndpoint(parts: ToolEndpointParts): ToolEndpoint {
  const tools = [...serviceTools(parts), ...smsTools(parts), ...numberTools(parts)];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = tools.map((tool) => tool.listed);
  const requests = new WeakMap<Request, ToolRequest>();
  const info = { name: 'simrack', title: parts.serviceName, version: '1.0.0', websiteUrl: parts.baseUrl };
  const options: ServerOptions = {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    cacheHints: {
      'tools/list': { ttlMs: CACHE_MS, cacheScope: 'public' },
      'server/discover': { ttlMs: CACHE_MS, cacheScope: 'public' },
    },
    // Made anew it costs more than all else of a request; nobody is asked anything that it would check.
    jsonSchemaValidator: new AjvJsonSchemaValidator(),
  };
  const createServer: McpServerFactory = ({ requestInfo }) => {
    const server = new Server(info, options);
    server.setRequestHandler('tools/list', () => ({ tools: listed }));
    server.setRequestHandler('tools/call', ({ params }, context) => {
      const tool = byName.get(params.name);
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${params.name}`);
      const request = requestInfo && requests.get(requestInfo);
      if (request === undefined) throw new Error('a call without its request');
      return run(tool, params.arguments ?? {}, request, context);
    });
    return server;
  };
  const handler = createMcpHandler(createServer, {
    // Its message repeats what was asked.
    onerror: ({ name }) => parts.log.debug({ error: name }, 'tool request refused or ended early'),
  });
  return {
    needsBearer: (message) => callsIn(message).some((name) => byName.get(name)?.needsBearer === true),
    answer(request) {
      requests.set(request.request, request);
      return handler.fetch(request.request, { parsedBody: request.message });
    },
  };
}

/** Names of the tools that a body calls. */
export function callsIn(message: unknown): string[] {
  const all: unknown[] = Array.isArray(message) ? message : [message];
  return all.flatMap((each) => {
    const { method, params } = (each ?? {}) as { method?: unknown; params?: { name?: unknown } | null };
    return method === 'tools/call' ? [String(params?.name)] : [];
  });
}

async function run(
  tool: Tool,
  args: unknown,
  { caller, explain, lost }: ToolRequest,
  { mcpReq }: ServerContext,
) {
  const call: Call = { signal: mcpReq.signal, lost, onProgress: progressOf(mcpReq) };
  try {
    return resultOf(await tool.run(args, caller, call));
  } catch (error) {
    // Nobody is there any more.
    if (mcpReq.signal.aborted) throw error;
    return resultOf(explain(error), true);
  }
}

function progressOf({ _meta, notify }: ServerContext['mcpReq']): Call['onProgress'] {
  const token = _meta?.progressToken;
  if (token === undefined) return () => undefined;
  return (seconds) => {
    const params = { progressToken: token, progress: seconds, message: `waiting for ${seconds} s` };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
