// A server whose result comes as a message: the same as in the response of the SDK's own server, which also sends whatever comes otherwise.
import { createMcpHandler, Server, type ServerContext } from '@modelcontextprotocol/server';
import t from 'tap';
import { type DirectResult, DirectServer } from '#control-plane/mcp/direct-server.ts';
import { toolRequest } from '../../fixtures/agents/tool-client.ts';

type Run = (context: ServerContext) => Promise<Record<string, unknown>>;

const INFO = { name: 'test', version: '1.0.0' };
const OPTIONS = { capabilities: { tools: {} } };
const RESULT = { content: [{ type: 'text' as const, text: 'räksmörgås' }], structuredContent: { count: 1 } };

function requestOf(params: Record<string, unknown> = {}): Request {
  return new Request('http://127.0.0.1/mcp', toolRequest('tools/call', { name: 'one', ...params }));
}

/** Serves one call. `closed` resolves when the server is closed. */
function serve(run: Run, { isDirect }: { isDirect: boolean }) {
  const results: DirectResult[] = [];
  let onClose = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  const handler = createMcpHandler(() => {
    const server = isDirect
      ? new DirectServer(INFO, OPTIONS, (result) => results.push(result))
      : new Server(INFO, OPTIONS);
    server.onclose = onClose;
    server.setRequestHandler('tools/call', (_request, context) => run(context) as Promise<typeof RESULT>);
    return server;
  });
  return { handler, results, closed };
}

t.test('the result is what the response of the SDK has, and the server closes', async (t) => {
  const plain = serve(async () => RESULT, { isDirect: false });
  const response = await plain.handler.fetch(requestOf());
  t.equal(response.headers.get('content-type'), 'application/json');

  let call: AbortSignal | undefined;
  const direct = serve(
    async ({ mcpReq }) => {
      call = mcpReq.signal;
      return RESULT;
    },
    { isDirect: true },
  );
  await direct.handler.fetch(requestOf());
  await direct.closed;
  t.same(
    direct.results.map(({ message }) => JSON.stringify(message)),
    [await response.text()],
  );
  t.equal(call?.aborted, false, 'a call that has ended is not aborted');
});

t.test('progress before the result: all of it is one stream', async (t) => {
  const { handler, results, closed } = serve(
    async ({ mcpReq }) => {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 1 },
      });
      return RESULT;
    },
    { isDirect: true },
  );
  const response = await handler.fetch(requestOf({ _meta: { progressToken: 'p' } }));
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  const events = (await response.text()).match(/^data: .*$/gm) ?? [];
  t.match(events[0], /notifications\/progress/);
  t.match(events[1], /räksmörgås/);
  t.equal(events.length, 2);
  await closed;
  t.same(results, []);
});

t.test('an error is a response', async (t) => {
  const { handler, results, closed } = serve(() => Promise.reject(new Error('broken')), { isDirect: true });
  const response = await handler.fetch(requestOf());
  t.match(await response.json(), { id: 1, error: { message: 'broken' } });
  await closed;
  t.same(results, []);
});

t.test('a client that has gone: the call is aborted, and nothing is sent', async (t) => {
  const gone = new AbortController();
  const { handler, results, closed } = serve(
    ({ mcpReq }) => {
      const aborted = new Promise<typeof RESULT>((resolve) => {
        mcpReq.signal.addEventListener('abort', () => resolve(RESULT));
      });
      gone.abort();
      return aborted;
    },
    { isDirect: true },
  );
  const request = new Request(requestOf(), { signal: gone.signal });
  t.equal((await handler.fetch(request)).status, 499);
  await closed;
  t.same(results, []);
});
