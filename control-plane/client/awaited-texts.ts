// Waits for texts at the service: the MCP tool `receive_sms`, called by one plain POST. It answers as soon as a text arrives.
import * as z from 'zod';
import { OPERATION } from '#shared/api/operations.ts';
import { REFUSALS } from '#shared/api/refusals.ts';
import { type ApiError, errorOfAnswer, noAnswer } from './api-error.ts';
import type { InboundMessage } from './claimed-messages.ts';
import type { RawAnswer } from './payments/offer.ts';
import type { Transport } from './transport.ts';

const TOOL_LIMIT = 100;
const ANSWER_MS = 30_000;

/** MCP without a handshake and without a stream. */
const REVISION = '2026-07-28';
const HEADERS = {
  Accept: 'application/json, text/event-stream',
  'MCP-Protocol-Version': REVISION,
  'Mcp-Method': 'tools/call',
  'Mcp-Name': 'receive_sms',
};
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'simrack-client', version: '0.1.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const resultSchema = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.unknown() }),
});
const errorSchema = z.object({ error: z.object({ data: z.unknown() }) });
const toolRefusalSchema = z.looseObject({ error: z.string(), retry_after: z.number().optional() });

/**
 * Claims texts; if there are none, waits up to `waitSeconds` (0 to 50) for one. Throws `ApiError`, and the reason of `signal`: the service
 * then keeps what it has not sent.
 */
export async function claimAwaited(
  transport: Transport,
  { token, waitSeconds, signal }: { token: string; waitSeconds: number; signal: AbortSignal },
): Promise<readonly InboundMessage[]> {
  const call = {
    name: 'receive_sms',
    arguments: { wait_seconds: waitSeconds, limit: TOOL_LIMIT },
    _meta: META,
  };
  const answer = await transport.ask(
    { method: 'post', path: '/mcp' },
    {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      headers: HEADERS,
      token,
      signal,
      timeoutMs: waitSeconds * 1_000 + ANSWER_MS,
    },
  );
  const result = resultSchema.safeParse(answer.json).data?.result;
  if (answer.status !== 200 || result === undefined) throw refusalOf(answer);
  if (result.isError === true) throw toolRefusalOf(result.structuredContent);
  const parsed = OPERATION.receive.answer.safeParse(result.structuredContent);
  if (!parsed.success) throw noAnswer('invalid_answer', 'receive_sms returned no list of messages');
  return (result.structuredContent as { messages: InboundMessage[] }).messages;
}

/** A request that no tool saw. */
function refusalOf({ status, headers, json }: RawAnswer): ApiError {
  const data = errorSchema.safeParse(json).data?.error.data;
  return errorOfAnswer(status, data ?? json, headers.get('retry-after'));
}

function toolRefusalOf(content: unknown): ApiError {
  const { error = '', retry_after: seconds } = toolRefusalSchema.safeParse(content).data ?? {};
  const { status } = Object.entries(REFUSALS).find(([code]) => code === error)?.[1] ?? { status: 500 };
  return errorOfAnswer(status, content, seconds?.toString());
}
