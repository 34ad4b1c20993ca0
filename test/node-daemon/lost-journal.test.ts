// A daemon that starts without its journal says so.
import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { settingsOf } from '#node-daemon/config/options.ts';
import { startDaemon } from '#node-daemon/daemon/daemon.ts';
import { writeIdentity } from '../fixtures/nodes/enrolled-node.ts';
import { recordedLog } from '../fixtures/recorded-log.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { ScriptedControlPlane } from './link/scripted-control-plane.ts';

async function setUp(t: Test) {
  const dataDir = temporaryFolder(t);
  const settings = settingsOf({
    dataDir,
    config: undefined,
    logLevel: 'silent',
    modemPorts: undefined,
    sysfsRoot: join(dataDir, 'sys'),
    devRoot: join(dataDir, 'dev'),
  });
  /** How often a start says that there is no journal. */
  const warnings = async (): Promise<number> => {
    const { log, lines } = recordedLog();
    const daemon = await startDaemon(settings, { log });
    await daemon.stop();
    return lines.filter(({ level, message }) => level === 'warn' && message.includes('no journal found'))
      .length;
  };
  return { dataDir, path: join(dataDir, 'journal.log'), warnings };
}

t.test('an enrolled node warns once when its journal is missing, empty or of zeros', async (t) => {
  const { dataDir, path, warnings } = await setUp(t);
  const plane = await ScriptedControlPlane.start();
  t.teardown(() => plane.stop());
  writeIdentity(dataDir, plane.url);
  t.equal(await warnings(), 1, 'missing');
  t.equal(await warnings(), 0, 'there');
  await rm(path);
  t.equal(await warnings(), 1, 'deleted');
  await truncate(path);
  t.equal(await warnings(), 1, 'empty');
  await writeFile(path, Buffer.alloc(4096));
  t.equal(await warnings(), 1, 'zeros');
  t.equal(await warnings(), 0);
});

t.test('a node that is not enrolled does not warn of a lost journal', async (t) => {
  const { warnings } = await setUp(t);
  t.equal(await warnings(), 0);
});
