// A node that waits for its operator's word: it says why and with which key, asks again calmly, and connects by itself.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseConfig } from '#node-daemon/config/config-file.ts';
import { startDaemon } from '#node-daemon/daemon/daemon.ts';
import { nodeCode } from '../fixtures/nodes/enrolled-node.ts';
import { recordedLog } from '../fixtures/recorded-log.ts';
import { runProgram } from '../fixtures/run-program.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { openTestOperator } from '../fixtures/service/test-operator.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';

const rig = await createRig();

t.test('pending, compared, approved, linked', { timeout: 120_000 }, async (t) => {
  const { url, databaseUrl } = await rig.start(t, { enrolmentApproval: true });
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  for (const path of ['data', 'sys', 'dev']) mkdirSync(join(folder, path));
  const enrolled = await runProgram('node-daemon', ['enroll', url, await nodeCode(url, 'lab')], {
    DATA_DIR: dataDir,
  });
  const [fingerprint = 'none'] = /SHA256:[\w+/]{43}/.exec(enrolled.stdout) ?? [];
  t.match(enrolled, { status: 0, stdout: /enrolled as lab, key SHA256:.*node approve lab/ });

  const { log, lines } = recordedLog();
  const daemon = await startDaemon(
    {
      dataDir,
      logLevel: 'info',
      config: { ...parseConfig('', 'node.yaml'), discover: true },
      sysfsRoot: join(folder, 'sys'),
      devRoot: join(folder, 'dev'),
    },
    { log },
  );
  t.teardown(() => daemon.stop());
  const waits = () => lines.filter(({ message }) => /waits for approval/.test(message));
  await until('it says why', () => waits().length > 0);
  t.match(waits()[0]?.fields, { fingerprint, reconnect: 'retry', retryMs: Number });
  const { retryMs = 0 } = (waits()[0]?.fields ?? {}) as { retryMs?: number };
  t.ok(retryMs >= 1_000 && retryMs <= 3_000, 'an approved node links within three seconds');
  t.equal(daemon.status().link, 'pending');

  const operator = await openTestOperator(t, { databaseUrl, url });
  t.match(await operator.call('nodes', {}), [{ name: 'lab', state: 'pending', fingerprint }]);
  t.same(await operator.call('approveNode', { node: 'lab', fingerprint }), { fingerprint });
  await until('linked', async () => (await operator.call('nodes', {}))[0]?.state === 'linked', 30_000);
});
