// Octets that are no HTTP, or nearly: each answer has its form, nothing hangs, and the process lives.
import fc, { type Arbitrary } from 'fast-check';
import t from 'tap';
import { type RawAnswer, RawConnection } from '../../fixtures/network/raw-connection.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { isWhole } from '../../fixtures/sweep.ts';
import { randomSeed } from '../../history/seed.ts';
import { startServiceChild } from './fuzz/service-child.ts';

const BURSTS = Number(process.env['FUZZ_BURSTS'] ?? (isWhole() ? 1_000 : 150));
/** Connections of a burst at most. */
const AT_ONCE = 8;

const rig = await createRig();
const service = await startServiceChild(t, rig);
const { alice, url } = service;
const seed = Number(process.env['FUZZ_SEED'] ?? randomSeed());
t.comment(`FUZZ_SEED=${seed}`);

const PARTS = [
  'GET ',
  'POST ',
  'HEAD ',
  'OPTIONS ',
  'CONNECT ',
  'PRI ',
  'get ',
  '/',
  '/availability',
  '/auth',
  '/mcp',
  '*',
  '//',
  'http://x/number',
  '/voice/presence/%2B12065550001',
  '/nodes/link',
  ' HTTP/1.1',
  ' HTTP/1.0',
  ' HTTP/2.0',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ': ',
  'Host: x\r\n',
  'Host:\r\n',
  'Content-Length: 2\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 9999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Content-Type: application/json\r\n',
  'Expect: 100-continue\r\n',
  'Expect: x\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\n',
  'Upgrade: websocket\r\n',
  'Upgrade: h2c\r\n',
  'Sec-WebSocket-Version: 13\r\n',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  'Sec-WebSocket-Version: 99\r\n',
  'Sec-WebSocket-Protocol: ,,\r\n',
  `Authorization: Bearer ${alice.token}\r\n`,
  'Authorization: SimrackNode id=a\r\n',
  '{}',
  '[]',
  '2\r\n{}\r\n0\r\n\r\n',
  'fffffffff\r\n',
  '0\r\n\r\n',
  'X: '.padEnd(17_000, 'x'),
  'a: b\r\n'.repeat(300),
  '\x81\x80\0\0\0\0',
  '\x16\x03\x01',
];
const START = fc.constantFrom(
  'GET /availability HTTP/1.1\r\n',
  'POST /auth HTTP/1.1\r\n',
  'GET /nodes/link HTTP/1.1\r\n',
);
const parts = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...PARTS) },
    fc.uint8Array({ maxLength: 8 }).map((octets) => Buffer.from(octets).toString('latin1')),
  ),
  { minLength: 1, maxLength: 12 },
);
const octets: Arbitrary<string[]> = fc.oneof(
  parts,
  fc.tuple(START, parts).map(([start, rest]) => [start, 'Host: x\r\n', ...rest]),
  fc
    .tuple(START, parts, parts)
    .map(([start, lines, rest]) => [start, 'Host: x\r\n', ...lines, '\r\n\r\n', ...rest]),
);

/** Writes the parts one by one, ends, and returns the problem of the answer. */
async function problemOf(some: readonly string[]): Promise<string | undefined> {
  const connection = new RawConnection(url);
  for (const part of some) connection.write(part);
  connection.socket.end();
  try {
    await connection.closed(15_000);
  } catch {
    return `hangs after ${JSON.stringify(connection.text.slice(0, 300))}`;
  }
  // After 101 it is not HTTP any more.
  const text = connection.text.split('HTTP/1.1 101')[0] ?? '';
  connection.text = text;
  try {
    const isHead = some.join('').includes('HEAD ');
    return connection.answers.flatMap((answer) => wrongWith(answer, isHead) ?? [])[0];
  } catch (error) {
    return String(error);
  }
}

function wrongWith({ body, headers, status }: RawAnswer, isHead: boolean): string | undefined {
  if (status >= 500) return `${status} ${body}`;
  if (status < 400 || (isHead && body === '')) return undefined;
  if (body === '') return `${status} without a body`;
  const { error, message, request_id: requestId } = JSON.parse(body) as Record<string, unknown>;
  if (typeof error === 'object' && body.includes('jsonrpc')) return undefined;
  const isWhole = typeof error === 'string' && typeof message === 'string';
  return isWhole && requestId === headers.get('x-request-id') ? undefined : body;
}

t.test('random octets on a connection', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(octets, { minLength: 1, maxLength: AT_ONCE }), async (some) => {
      const problems = await Promise.all(some.map(problemOf));
      const [problem] = problems.filter((each) => each !== undefined);
      if (problem !== undefined) throw new Error(problem);
    }),
    { seed, numRuns: BURSTS },
  );
});

t.test('clients that go away in the middle of everything', async (t) => {
  for (const start of [
    'POST /auth HTTP/1.1\r\nHost: x\r\n',
    'GET /nodes/link HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n',
  ]) {
    const offers = `${start}Upgrade: h2c\r\n\r\n`.repeat(5);
    for (let length = 0; length <= offers.length; length += 7) {
      const connection = new RawConnection(url).write(offers.slice(0, length));
      await new Promise((resolve) => connection.socket.once('connect', resolve));
      connection.socket.resetAndDestroy();
    }
  }
  t.equal((await fetch(`${url}/availability`)).status, 200);
});

t.test('the service works afterwards', async (t) => {
  t.ok(service.isAlive());
  const answer = await fetch(`${url}/number`, { headers: alice.headers });
  t.match(await answer.json(), { number: alice.number });
  t.same(service.complaints(), []);
});
