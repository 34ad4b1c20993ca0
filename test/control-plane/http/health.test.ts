// What a proxy and a supervisor are told.
import t from 'tap';
import { createRig } from '../../fixtures/rig.ts';

const rig = await createRig();

t.test('a service that runs lives and is ready, by GET and HEAD', async (t) => {
  const { url } = await rig.start(t);
  t.same(await (await fetch(`${url}/health/live`)).json(), { status: 'pass' });
  const ready = await fetch(`${url}/health/ready`);
  t.equal(ready.status, 200);
  t.equal(ready.headers.get('cache-control'), 'no-store');
  t.same(await ready.json(), {
    status: 'pass',
    checks: { database: { status: 'pass' }, serving: { status: 'pass' } },
  });
  t.equal((await fetch(`${url}/health/ready`, { method: 'HEAD' })).status, 200);
});
