// The port of the status page: the requests that get an answer, and those that get none.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Registry } from 'prom-client';
import t from 'tap';
import { serveStatus } from '#node-daemon/status-page/status-server.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, hubSlots, servePages, statusOf } from './scripted-status.ts';

interface Asked {
  method?: string;
  path?: string;
  host?: string;
}

function ask(port: number, { method = 'GET', path = '/', host = 'localhost' }: Asked = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const asked = request({ port, method, path, headers: { host } }, (response) => {
        let text = '';
        response.on('data', (part) => (text += String(part)));
        response.on('end', () =>
          resolve({ status: Number(response.statusCode), headers: response.headers, text }),
        );
      });
      asked.on('error', reject).end();
    },
  );
}

t.test('requests for names of this host are answered, those for any other name are not', async (t) => {
  const { port } = await servePages(t, statusOf(hubSlots(2)));
  for (const host of [
    'localhost',
    `localhost:${port}`,
    'LOCALHOST:9',
    '127.0.0.1',
    `127.0.0.1:${port}`,
    '[::1]:1',
  ])
    t.equal((await ask(port, { host })).status, 200, host);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    '0.0.0.0',
  ])
    for (const path of ['/', '/metrics']) {
      const { status, text } = await ask(port, { host, path });
      t.equal(status, 421, `${host} ${path}`);
      t.notMatch(text, /cupboard/);
    }
});

t.test('GET and HEAD only', async (t) => {
  const { port } = await servePages(t, statusOf(hubSlots(2)));
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const { status, headers } = await ask(port, { method });
    t.equal(status, 405, method);
    t.equal(headers['allow'], 'GET, HEAD');
  }
  const { status, headers, text } = await ask(port, { method: 'HEAD' });
  t.equal(status, 200);
  t.equal(text, '');
  t.ok(Number(headers['content-length']) > 1_000);
});

t.test('pages, slots, metrics, and nothing else', async (t) => {
  const { port } = await servePages(t, statusOf(hubSlots(2)));
  t.match((await ask(port, { path: '/slots/1-1.1.2' })).text, '<h1>1-1.1.2</h1>');
  t.equal((await ask(port, { path: '/metrics' })).status, 200);
  for (const path of [
    '/slots/none',
    '/slots/',
    '/slots/..%2f..',
    `/slots/${'x'.repeat(400)}`,
    '/metrics/',
    '/favicon.ico',
  ])
    t.equal((await ask(port, { path })).status, 404, path);
});

t.test('the policy allows nothing from outside', async (t) => {
  const { port } = await servePages(t, statusOf(hubSlots(2)));
  for (const path of ['/', '/slots/1-1.1.1', '/metrics', '/none']) {
    const { headers } = await ask(port, { path });
    const policy = String(headers['content-security-policy']);
    t.match(policy, "default-src 'none'");
    t.notMatch(policy, /unsafe|https?:|\*/);
    t.equal(headers['x-content-type-options'], 'nosniff');
    t.equal(headers['cache-control'], 'no-store');
    t.notOk(headers['access-control-allow-origin']);
  }
});

t.test('no number, no whole ICCID or IMEI is shown, and what a modem says of itself is text', async (t) => {
  const [slot] = hubSlots(1);
  if (slot === undefined) throw new Error('no slot');
  const hostile = { ...slot, model: '<script>alert(1)</script>', operator: '"><img src=x>' };
  const { port } = await servePages(t, statusOf([hostile], { calls: [callOf(slot)] }));
  for (const path of ['/', `/slots/${slot.slot}`]) {
    const { text } = await ask(port, { path });
    for (const secret of [slot.iccid, slot.device_id, slot.number?.slice(1), '12065559999'])
      t.notOk(text.includes(String(secret)), `${path}: ${secret}`);
    t.notMatch(text, /<script>alert|<img/);
  }
});

t.test('connections are bounded, and others wait for none that say nothing', async (t) => {
  const { port } = await servePages(t, statusOf(hubSlots(2)));
  const sockets: Socket[] = [];
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(closeAll);
  let closed = 0;
  for (let index = 0; index < 80; index += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.on('close', () => (closed += 1));
    sockets.push(socket);
    await once(socket, 'connect');
  }
  await until('those beyond the bound are closed', () => closed >= 16);
  t.equal(closed, 16);
  closeAll();
  await until('an answer', async () => (await ask(port).catch(() => undefined))?.status === 200);
});

t.test('a request that is too slow, or too large, is refused with the reason', async (t) => {
  const { port } = await servePages(t, statusOf(hubSlots(2)));
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (bytes) => (said += String(bytes)));
  socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(10_000)}\r\n\r\n`);
  await until('a refusal', () => said.startsWith('HTTP/1.1 431'));
});

t.test('a status that cannot be made is an error of that request only', async (t) => {
  const { port, shown } = await servePages(t, statusOf(hubSlots(2)));
  const { status } = shown;
  shown.status = {
    ...status,
    signalOf() {
      throw new Error('broken');
    },
  };
  t.equal((await ask(port)).status, 500);
  shown.status = status;
  t.equal((await ask(port)).status, 200);
});

t.test('a taken port is named with the key of the configuration', async (t) => {
  const { port } = await servePages(t, statusOf([]));
  const another = serveStatus({ registry: new Registry(), status: () => statusOf([]), port });
  await t.rejects(another, { message: `metrics.port: port ${port} is already in use` });
});
