// /sms/messages: pages, filters, and bad queries.
import t from 'tap';
import { type Row, received, subscriber, texts } from '../../fixtures/agents/subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

t.test('pages of the history join to the whole, newest first, with filters', async (t) => {
  const { node, get, send, history } = await subscriber(t, rig);
  await node.report(...texts(25));
  await send({ to: '+13105550188', body: 'mine' });
  const all = await history('?limit=100');
  t.equal(all.length, 26);
  t.equal(all[0]?.body, 'mine');
  const paged: Row[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await get(`/sms/messages?limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    paged.push(...(body['messages'] as Row[]));
    cursor = body['next_cursor'] as string | null;
  }
  t.same(paged, all);
  t.equal((await history('?direction=sent')).length, 1);
  t.equal((await history('?direction=received&limit=100')).length, 25);
  const oldest = String(all.at(-1)?.created_at);
  t.ok((await history(`?until=${oldest}&limit=100`)).length >= 1, 'bounds are inclusive');
  t.equal((await history(`?since=${oldest}&limit=100`)).length, 26);
  t.equal((await history('?since=2100-01-01T00:00:00Z')).length, 0);
});

t.test('bad query values are 400 and claim nothing', async (t) => {
  const { node, get } = await subscriber(t, rig);
  await node.report(received('x'));
  for (const path of [
    '/sms/receive?limit=0',
    '/sms/receive?limit=101',
    '/sms/receive?limit=-1',
    '/sms/receive?limit=abc',
    '/sms/receive?limit=1&limit=2',
    '/sms/receive?limit=',
    '/sms/messages?limit=0',
    '/sms/messages?limit=1e2',
    '/sms/messages?direction=up',
    '/sms/messages?since=yesterday',
    '/sms/messages?until=2026-13-01T00:00:00Z',
    '/sms/messages?since=0000-01-01T00:00:00Z',
    '/sms/messages?since=9999-12-31T23:59:59-23:59',
    '/sms/messages?cursor=abc',
    '/sms/messages?cursor=',
  ]) {
    t.match(await get(path), { status: 400, body: { error: 'invalid_request', message: String } }, path);
  }
  t.equal((await get('/sms/receive')).body['count'], 1);
});
