// A port that another program has costs page and metrics, and nothing else.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import t from 'tap';
import { settingsOf } from '#node-daemon/config/options.ts';
import { startDaemon } from '#node-daemon/daemon/daemon.ts';
import { keepStatusPort, RETRY_MS } from '#node-daemon/status-page/status-port.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { temporaryFolder } from '../../fixtures/stacks/started-stack.ts';
import { until } from '../../fixtures/until.ts';
import { statusOf } from './scripted-status.ts';

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/metrics`).then(
    ({ status }) => status === 200,
    () => false,
  );

t.test('a taken port is named with its option, and used as soon as it is free', async (t) => {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const clock = new ManualClock(0);
  const { log, lines } = recordedLog();
  const kept = await keepStatusPort({
    clock,
    log,
    port,
    registry: new Registry(),
    status: () => statusOf([]),
  });
  t.match(lines, [{ level: 'error', fields: { port }, message: /metrics\.port/ }]);
  clock.advance(RETRY_MS);
  await until('another try', () => lines.length === 2);
  other.close();
  await once(other, 'close');
  await until('a timer', () => clock.untilNextMs === RETRY_MS);
  clock.advance(RETRY_MS);
  await until('metrics', () => answers(port));
  await kept.stop();
  t.notOk(await answers(port));
});

t.test('the daemon serves its modems meanwhile', async (t) => {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port: metricsPort } = other.address() as AddressInfo;
  const dataDir = temporaryFolder(t);
  const settings = settingsOf({
    dataDir,
    config: undefined,
    logLevel: 'silent',
    modemPorts: [{ slot: 'm0', path: '/nowhere' }],
    sysfsRoot: join(dataDir, 'sys'),
    devRoot: join(dataDir, 'dev'),
  });
  const { log, lines } = recordedLog();
  const daemon = await startDaemon({ ...settings, config: { ...settings.config, metricsPort } }, { log });
  t.match(daemon.status().slots, [{ slot: 'm0' }]);
  await daemon.stop();
  const errors = lines.filter(({ level }) => level === 'error');
  t.match(errors, [{ message: /metrics\.port/ }]);
});

t.test('a stop ends the tries', async (t) => {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const clock = new ManualClock(0);
  const kept = await keepStatusPort({
    clock,
    log: silentLogger,
    port,
    registry: new Registry(),
    status: () => statusOf([]),
  });
  await kept.stop();
  t.equal(clock.untilNextMs, Number.POSITIVE_INFINITY);
});
