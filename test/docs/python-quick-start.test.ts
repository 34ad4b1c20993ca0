// The quick start in Python, with Debian's packages: it pays, texts, receives and calls.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { PYTHON } from '../fixtures/foreign-program.ts';
import { EXAMPLES, isShown, runExample, runQuickStart, startExamples } from './example.ts';

const hasPackages = spawnSync(PYTHON, ['-c', 'import ecdsa, Cryptodome.Hash.keccak']).status === 0;
const skip = hasPackages ? false : 'python3-ecdsa and python3-pycryptodome are not installed';

/** A service whose first answer to a payment is that it takes long, although it is paid. Returns its URL. */
async function startSlowSeller(t: Test, url: string): Promise<string> {
  let isFirst = true;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', headers } = request;
    const body = method === 'POST' ? new Uint8Array(await buffer(request)) : null;
    const sent = Object.entries(headers).filter(([name]) => !['host', 'connection'].includes(name));
    const answer = await fetch(url + request.url, { method, body, headers: sent as Array<[string, string]> });
    const text = await answer.text();
    const isPending = isFirst && answer.ok && 'x-payment' in headers;
    if (isPending) isFirst = false;
    response.writeHead(isPending ? 503 : answer.status, { 'Content-Type': 'application/json' });
    response.end(isPending ? '{"error": "settlement_pending", "message": "wait"}' : text);
  };
  const proxy = createServer((...each) => void serve(...each));
  t.teardown(() => proxy.close());
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

t.test('the Python quick start buys a number, whose payment takes long, and uses it', { skip }, async (t) => {
  const { environment, textTo, url } = await startExamples(t);
  const { status, stderr, number, lines } = await runQuickStart(
    [PYTHON, '-u', join(EXAMPLES, 'quick_start.py')],
    { env: { ...environment(0), SIMRACK_URL: await startSlowSeller(t, url) }, textTo },
  );
  t.equal(status, 0, stderr);
  t.match(number, /^\+1\d{10}$/);
  t.same(lines, [
    'sent 200 queued',
    'received Your code is 417209',
    'call 200 outbound',
    'hangup 200 hangup_sent',
    '',
  ]);
});

t.test('without its variables it names them', { skip }, async (t) => {
  const env = { PATH: String(process.env['PATH']), TO: '+13105550188' };
  const run = await runExample([PYTHON, join(EXAMPLES, 'quick_start.py')], { env });
  t.same(run, { status: 1, stdout: '', stderr: 'Set SIMRACK_URL and WALLET_KEY.\n' });
});

t.test('the page shows it', async (t) => {
  t.ok(isShown('quick-start.md', 'quick_start.py'));
});
