// Where the metrics are served: on loopback by default, on a port of their own, and on none that is taken.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import t from 'tap';
import { served } from '../../fixtures/network/served.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../fixtures/service/service-process.ts';

const rig = await createRig();

/** Addresses that listen on a port (proc_net_tcp(5)): 0100007F is 127.0.0.1 and 00000000 any. */
function listenersOn(port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/net/${file}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hex}`) === true && state === '0A')
      .map(([, local]) => String(local).replace(/:.*$/, '')),
  );
}

t.test('metrics are on loopback only, and not on the port of the API', async (t) => {
  const { service, url } = await rig.start(t, { metricsPort: 0 });
  t.same(listenersOn(Number(service.metricsPort)), ['0100007F']);
  t.equal((await fetch(`${url}/metrics`)).status, 404);
  const answer = await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`);
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
});

t.test('another address is a matter of configuration', async (t) => {
  const { service } = await rig.start(t, { metricsPort: 0, metricsHost: '0.0.0.0' });
  t.same(listenersOn(Number(service.metricsPort)), ['00000000']);
});

t.test('without a port there are none', async (t) => {
  const { service } = await rig.start(t);
  t.equal(service.metricsPort, undefined);
});

t.test('a port that is taken ends the start with one line that names the option', async (t) => {
  const { port } = new URL(await served(t, createServer()));
  for (const option of ['METRICS_PORT', 'PORT']) {
    const start = startServiceProcess(t, {
      databaseUrl: await rig.postgres.createMigrated(),
      rpcUrl: rig.chain.rpcUrl,
      env: { [option]: port, LOG_LEVEL: 'info' },
    });
    const pattern = `^ended with 1: .*error: ${option}: port ${port} is already in use\\n$`;
    await t.rejects(start, { message: new RegExp(pattern, 's') });
  }
});
