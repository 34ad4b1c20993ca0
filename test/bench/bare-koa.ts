// The other side of the request benches: one Koa route that answers a constant. A program of its own.
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';

const router = new Router();
router.get('/sms/receive', (ctx) => {
  ctx.body = { messages: [], count: 0 };
});
const server = new Koa().use(router.routes()).listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
