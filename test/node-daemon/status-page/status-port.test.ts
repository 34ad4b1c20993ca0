// A port that another program has costs page and metrics, and nothing else.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import t from 'tap';
import { settingsOf } from '#node-daemon/config/options.ts';
import { startDaemon } from '#node-daemon/daemon/daemon.ts';
import { keepStatusPort, RETRY_MS } from '#node-daemon/status-page/status-port.ts';
import { silentLogger } from '#shared/log.ts';
import { listen } from '#shared/process/listen.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { served } from '../../fixtures/network/served.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { statusOf } from './scripted-status.ts';

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/metrics`).then(
    ({ status }) => status === 200,
    () => false,
  );

t.test('a taken port is named with its option, and used as soon as it is free', async (t) => {
  const { port, stop } = await listen(createServer(), { port: 0, option: 'port' });
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
  await stop();
  await until('a timer', () => clock.untilNextMs === RETRY_MS);
  clock.advance(RETRY_MS);
  await until('metrics', () => answers(port));
  await kept.stop();
  t.notOk(await answers(port));
});

t.test('the daemon serves its modems meanwhile', async (t) => {
  const metricsPort = Number(new URL(await served(t, createServer())).port);
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
  const port = Number(new URL(await served(t, createServer())).port);
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
