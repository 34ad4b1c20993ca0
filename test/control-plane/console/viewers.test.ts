// Streams are written to in bounded memory: who does not read is cut off, and the others go on.
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { Viewers } from '#control-plane/console/live/viewers.ts';
import type { ConsoleSession } from '#control-plane/console/session/sessions.ts';
import { served } from '../../fixtures/network/served.ts';
import { until } from '../../fixtures/until.ts';

const session: ConsoleSession = { operator: 'ann', formToken: '', hash: Buffer.from('a') };
const EVENT = Buffer.from(`data: ${'x'.repeat(200_000)}\n\n`);

t.test('a viewer that does not read is cut off, and the others go on', async (t) => {
  const viewers = new Viewers();
  const server = createServer((_, response) => viewers.open('fleet', session, response, undefined));
  const opened: ServerResponse[] = [];
  server.on('request', (_, response) => opened.push(response));
  const { port } = new URL(await served(t, server));
  const open = () => {
    const socket = connect(Number(port), '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    return socket;
  };
  const deaf = open();
  deaf.pause();
  await until('the deaf one is there', () => viewers.size === 1);
  let heard = 0;
  open().on('data', (bytes) => {
    heard += bytes.length;
  });
  await until('both are there', () => viewers.size === 2);
  await until('one is cut off', () => {
    viewers.send('fleet', EVENT);
    return viewers.size === 1;
  });
  t.ok(opened[0]?.destroyed);
  t.ok((opened[0]?.writableLength ?? 0) <= 1024 * 1024);
  const before = heard;
  viewers.send('fleet', EVENT);
  await until('the other one hears', () => heard >= before + EVENT.length);
  viewers.send('elsewhere', EVENT);
  t.notOk(opened[1]?.destroyed);
  viewers.stop();
});
