// A connection without traffic: it is kept while its response is being made, and not while a response waits to be read.
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import Koa from 'koa';
import t, { type Test } from 'tap';
import { Connections } from '#control-plane/http/connections.ts';
import { listenHttp } from '#control-plane/http/server.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';

class StubConnection extends EventEmitter {
  destroyed = false;
  writableLength = 0;
  timeoutMs: number | undefined;

  setTimeout(ms: number): void {
    this.timeoutMs = ms;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

t.test('a connection that was silent', async (t) => {
  const connections = new Connections({ clock: new ManualClock(), log: silentLogger }, () => undefined);
  const socket = new StubConnection();
  const given = socket as unknown as Socket;
  const response = new EventEmitter() as unknown as ServerResponse;
  t.ok(connections.open({ socket } as unknown as IncomingMessage, response));
  connections.idle(given, 300);
  t.match(socket, { destroyed: false, timeoutMs: 300 }, 'its response is being made');
  socket.writableLength = 1;
  connections.idle(given, 300);
  t.ok(socket.destroyed, 'its client does not read');
});

const OFFER = 'GET /next HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';

/** A server whose requests `answer` answers, and a client that sends one with the offer of another protocol behind it. */
async function offered(t: Test, unreadTimeoutMs: number, answer: (context: Koa.Context) => unknown) {
  const clock = new ManualClock();
  const server = await listenHttp({
    host: '127.0.0.1',
    port: 0,
    clock,
    log: silentLogger,
    headersTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    keepAliveTimeoutMs: 10_000,
    unreadTimeoutMs,
    connectionsPerAddress: 10,
    isBehindProxy: false,
  });
  let asked = 0;
  const app = new Koa().use((context) => {
    asked += 1;
    return answer(context);
  });
  server.serve(app, () => Promise.reject(new Error('no WebSocket')));
  const client = connect(server.port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => void client.destroy());
  client.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${OFFER}`);
  await until('it is asked', () => asked > 0);
  return { client, clock, server };
}

t.test(
  'a client that offers another protocol behind a response that it does not read is cut off',
  async (t) => {
    const { client, server } = await offered(t, 200, (context) => {
      context.body = Buffer.alloc(64 * 1024 * 1024);
    });
    client.pause();
    await server.stop();
    t.pass('it is gone');
  },
);

t.test('such an offer behind a response that is still being made does not hold up a stop', async (t) => {
  const { client, clock, server } = await offered(t, 60_000, () => new Promise(() => undefined));
  const stopped = server.stop();
  clock.advance(5_000);
  await stopped;
  if (!client.destroyed) await once(client.resume(), 'close');
  t.pass('it is gone');
});
