// The control plane as it is seen from a node: it answers, with its clock, or there is a word for why not.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import t from 'tap';
import { probeControlPlane } from '#node-daemon/doctor/seen/control-plane-probe.ts';
import { systemClock } from '#shared/clock.ts';
import { freePort } from '../../../fixtures/network/free-port.ts';
import { served } from '../../../fixtures/network/served.ts';

t.test('status and clock of one that answers', async (t) => {
  const server = createServer((request, response) => {
    response.sendDate = false;
    response.setHeader('date', new Date(Date.now() + 7_200_000).toUTCString());
    response.writeHead(request.url === '/health/live' ? 200 : 404).end('{}');
  });
  const url = await served(t, server);
  const answer = await probeControlPlane(url, systemClock);
  t.match(answer, { url, status: 200 });
  const { clockDifferenceMs = 0 } = answer as { clockDifferenceMs?: number };
  t.ok(Math.abs(clockDifferenceMs - 7_200_000) < 60_000, `${clockDifferenceMs} ms`);
});

t.test('no server listens; the name is not known; the answer is no HTTP', async (t) => {
  const refused = await probeControlPlane(`http://127.0.0.1:${await freePort()}`, systemClock);
  t.match(refused, { error: 'ECONNREFUSED' });
  t.match(await probeControlPlane('https://nowhere.invalid', systemClock), {
    error: /^(ENOTFOUND|EAI_AGAIN)$/,
  });
  const server = createTcpServer((socket) => socket.end('SSH-2.0-x\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  t.match(await probeControlPlane(`http://127.0.0.1:${port}`, systemClock), { error: /./ });
  t.match(await probeControlPlane(`https://127.0.0.1:${port}`, systemClock), { error: /./ });
});
