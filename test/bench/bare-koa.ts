// The other side of the request benches: one Koa route that answers a constant. A program of its own.
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import getRawBody from 'raw-body';

/** As long as the list of services. */
const TEXT = 'x'.repeat(1_700);

const router = new Router();
router.get('/sms/receive', (ctx) => {
  ctx.body = { messages: [], count: 0 };
});
router.post('/json', async (ctx) => {
  const body = JSON.parse((await getRawBody(ctx.req)).toString());
  ctx.body = { id: body.id, text: TEXT };
});
const server = new Koa().use(router.routes()).listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
