// The description that the service gives of itself, before any payment.
import t from 'tap';
import { catalogSchema, demoSchema } from '#shared/api/answers.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

t.test('the catalog has its fields, and its URLs answer', async (t) => {
  const { url } = await rig.start(t);
  const response = await fetch(url);
  t.equal(response.status, 200);
  const catalog = catalogSchema.strict().parse(await response.json());
  t.match(catalog, { name: 'Simrack', env: 'test', mcp: `${url}/mcp`, openapi: `${url}/openapi.json` });
  for (const file of [catalog.openapi, ...Object.values(catalog.well_known)])
    t.equal((await fetch(file)).status, 200, file);
});

t.test('the demo has the exact shapes', async (t) => {
  const { url } = await rig.start(t);
  const response = await fetch(`${url}/demo`, { method: 'POST' });
  t.equal(response.status, 200);
  const { simulated_receive: received } = demoSchema.strict().parse(await response.json());
  t.equal(received.count, received.messages.length);
});

t.test('the description is small, and a client with a cached copy gets 304', async (t) => {
  const { url } = await rig.start(t);
  const response = await fetch(`${url}/openapi.json`);
  const text = await response.text();
  t.ok(text.length < 84 * 1024, `${text.length} octets`);
  const etag = response.headers.get('etag') ?? '';
  t.match(response.headers.get('content-type'), /^application\/json/);
  t.match(response.headers.get('cache-control'), /public/);
  const again = await fetch(`${url}/openapi.json`, { headers: { 'If-None-Match': etag } });
  t.equal(again.status, 304);
  t.equal(await again.text(), '');
  const document = JSON.parse(text) as { openapi: string; paths: Record<string, unknown> };
  t.match(document.openapi, /^3\.1\./);
  t.ok(document.paths['/subscribe']);
});
