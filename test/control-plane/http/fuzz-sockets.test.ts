// Any frames on every WebSocket: it goes on or is closed with a code that is documented, and everything else goes on.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import fc, { type Arbitrary } from 'fast-check';
import t from 'tap';
import WebSocket from 'ws';
import { telephoneClient } from '../../fixtures/agents/telephone.ts';
import { openLinkSocket, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { isWhole } from '../../fixtures/sweep.ts';
import { until } from '../../fixtures/until.ts';
import { randomSeed } from '../../history/seed.ts';
import { mutatedJson, objectsOf, values } from './fuzz/arbitraries.ts';
import { encodeFrame, type Frame, frames } from './fuzz/frames.ts';
import { startServiceChild } from './fuzz/service-child.ts';

const ROUND_MS = Number(process.env['FUZZ_MS'] ?? (isWhole() ? 4_000 : 2_000));
const PART_RUNS = 20;
const GROWTH_MEGABYTES = 96;
/** The codes of RFC 6455 and the README; the client's library uses 1005 and 1006 where no code came. */
const isCode = (code: number): boolean =>
  [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1012].includes(code) ||
  (code >= 4000 && code < 5000);

const rig = await createRig();
const service = await startServiceChild(t, rig);
const { alice, line, url } = service;
const phone = telephoneClient(t, { url, headers: alice.headers, number: alice.number });
const seed = Number(process.env['FUZZ_SEED'] ?? randomSeed());
t.comment(`FUZZ_SEED=${seed}`);

/** Writes frames past the library, and resolves with the code of the close when the service has had its say. */
async function codeAfter(socket: WebSocket, some: readonly Frame[]): Promise<number | undefined> {
  const { _socket: connection } = socket as unknown as { _socket: Socket };
  let code: number | undefined;
  socket.on('error', () => undefined);
  socket.on('close', (given) => {
    code = given;
  });
  for (const frame of some) if (connection.writable) connection.write(encodeFrame(frame));
  // A ping in the middle of a message is answered, too: by then all before it was read.
  const isHeard = new Promise((resolve) => socket.once('pong', resolve));
  if (connection.writable) connection.write(encodeFrame({ ...PING }));
  await Promise.race([isHeard, once(socket, 'close'), pause(300)]);
  socket.terminate();
  return code;
}
/** The codes with which the client closes. The other side returns its code (RFC 6455 §5.5.1). */
const closesOf = (some: readonly Frame[]): number[] =>
  some
    .filter(({ opcode, payload }) => opcode === 8 && payload.length >= 2)
    .map(({ payload: [high = 0, low = 0] }) => high * 256 + low);

const PING = { isFinal: true, reserved: 0, opcode: 9, isMasked: true, payload: new Uint8Array(0) };

const codes: Record<string, number> = {};

async function flood(open: () => Promise<WebSocket>, texts: Arbitrary<Buffer>): Promise<number> {
  let sockets = 0;
  const someFrames = fc.array(frames(texts), { minLength: 1, maxLength: 10 });
  const property = fc.asyncProperty(someFrames, async (some) => {
    const code = await codeAfter(await open(), some);
    sockets += 1;
    codes[String(code)] = (codes[String(code)] ?? 0) + 1;
    if (code !== undefined && !isCode(code) && !closesOf(some).includes(code))
      throw new Error(`closed with ${code}`);
    if (!service.isAlive()) throw new Error('the service died');
  });
  const endMs = performance.now() + ROUND_MS;
  // On a machine that is busy, too, it plays one part at least.
  for (let part = 0; part === 0 || performance.now() < endMs; part += 1)
    await fc.assert(property, { seed: seed + part, numRuns: PART_RUNS });
  return sockets;
}

/** A stream of a call that has just come in. */
async function openStream(protocol: string): Promise<WebSocket> {
  for (const call of line.calls) line.end(call, { reason: 'remote_hangup', cause: 16 });
  const { call_id: callId } = line.ring();
  await until('the call is known', async () => (await phone.calls('?limit=1'))[0]?.['call_id'] === callId);
  return (await phone.stream(callId, { protocol })).socket;
}

const clientTexts = mutatedJson(
  fc.oneof(
    fc.constantFrom(
      { type: 'clear' },
      { action: 'clear' },
      { type: 'mark', name: 'x' },
      { type: 'dtmf', digits: '12#' },
    ),
    objectsOf(['type', 'name', 'digits', 'action']),
  ),
);
const twilioTexts = mutatedJson(
  fc.oneof(
    fc.constantFrom(
      { event: 'media', streamSid: 'x', media: { payload: '//79' } },
      { event: 'media', media: { payload: '%' } },
      { event: 'mark', mark: { name: 'x' } },
      { event: 'clear' },
      { event: 'dtmf', dtmf: { digits: '1' } },
    ),
    objectsOf(['event', 'streamSid', 'media', 'mark', 'dtmf']),
    fc.record({ event: fc.constantFrom('media', 'mark', 'dtmf'), media: values, mark: values, dtmf: values }),
  ),
);

const before = service.megabytes();

t.test('the stream of a call', async (t) => {
  t.ok(await flood(() => openStream(''), clientTexts));
});

t.test('the stream of a call, as Twilio speaks', async (t) => {
  t.ok(await flood(() => openStream('twilio'), twilioTexts));
});

t.test('presence', async (t) => {
  t.ok(await flood(async () => (await phone.presence()).socket, clientTexts));
});

t.test('the link of a node that has gone mad', async (t) => {
  const hello = {
    type: 'hello',
    version_min: 1,
    version_max: 99,
    journal_id: 'mad',
    oldest_sequence: 0,
    slots: [slotAt(77)],
    alarms: [],
    calls: [],
  };
  const fact = {
    kind: 'sms_received',
    iccid: String(slotAt(77).iccid),
    from: '+1',
    body: '\0',
    sent_at: 'never',
  };
  const texts = mutatedJson(
    fc.oneof(
      fc.constant(hello),
      fc
        .tuple(fc.constantFrom(...Object.keys(hello)), values)
        .map(([key, value]) => ({ ...hello, [key]: value })),
      fc
        .tuple(fc.nat(3), fc.constantFrom(...Object.keys(fact)), values)
        .map(([sequence, key, value]) => ({ type: 'fact', sequence, fact: { ...fact, [key]: value } })),
      objectsOf(['type', 'id', 'ok', 'result', 'code', 'message', 'call', 'event', 'slots', 'sequence']),
      fc
        .constantFrom('heartbeat', 'slots', 'result', 'call')
        .chain((type) => values.map((value) => ({ type, slots: value, call: value, id: value }))),
    ),
  );
  let links = 0;
  // A node may open only so many links at once.
  const nextNode = (): string => {
    links += 1;
    return `mad-${Math.floor(links / 50)}`;
  };
  t.ok(await flood(() => openLinkSocket(url, { nodeId: nextNode() }), texts));
});

t.test('handshakes', async (t) => {
  const paths = [
    '/voice/stream/x',
    `/voice/presence/${alice.number}`,
    '/nodes/link',
    '/nodes/media',
    '/nope',
    '/%ff',
  ];
  for (const path of [...paths, ...paths.map((each) => `${each}?protocol=twilio&protocol=x`)]) {
    for (const [name, value] of [
      ['Sec-WebSocket-Version', '8'],
      ['Sec-WebSocket-Key', 'short'],
      ['Sec-WebSocket-Protocol', 'a,,b'],
      ['Sec-WebSocket-Extensions', 'permessage-deflate; server_max_window_bits=99'],
      ['Authorization', 'SimrackNode id=\xff'],
    ] as const) {
      const headers = { Connection: 'Upgrade', Upgrade: 'websocket', ...alice.headers, [name]: value };
      const socket = new WebSocket(url.replace('http', 'ws') + path, { headers });
      socket.on('error', () => undefined);
      const refused = (await Promise.race([
        once(socket, 'unexpected-response'),
        once(socket, 'open').then(() => []),
      ])) as [{ destroy(): void }, IncomingMessage] | [];
      if (refused.length === 0) socket.terminate();
      else {
        const [request, response] = refused;
        t.ok(Number(response.statusCode) < 500, `${path} ${name}: ${response.statusCode}`);
        t.match(await json(response), { error: String, message: String, request_id: String });
        request.destroy();
      }
    }
  }
});

t.test('the service works afterwards', async (t) => {
  const after = service.megabytes();
  t.comment(`${before.toFixed()} MB and then ${after.toFixed()} MB`);
  t.comment(`closed with: ${JSON.stringify(codes)}`);
  for (const code of [1002, 1007, 1009]) t.ok(codes[code], `${code} was among them`);
  t.ok(after - before < GROWTH_MEGABYTES);
  t.ok(service.isAlive());
  const answer = await fetch(`${url}/number`, { headers: alice.headers });
  t.match(await answer.json(), { number: alice.number });
  const stream = await openStream('');
  t.equal(stream.readyState, stream.OPEN);
  t.same(service.complaints(), []);
});
