// `node-daemon doctor` on 16 modems, from the command to its last line: by itself, through a daemon, and where modems hang.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reportSchema } from '#node-daemon/doctor/report/report.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { until } from '../../fixtures/until.ts';
import { ScriptedControlPlane } from '../../node-daemon/link/scripted-control-plane.ts';
import { startChild } from '../child.ts';
import type { Measurement } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { SimulatedRack } from './simulated-rack.ts';

const MODEMS = 16;
const HANGING = 4;
const ROUNDS = 3;
const IN_SERVICE_TIMEOUT_MS = 60_000;
const TARGET = { atMost: 20 };

export function benchDoctor(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const plane = await ScriptedControlPlane.start();
    const rack = await SimulatedRack.start({ folder, modems: MODEMS });
    const env = {
      DATA_DIR: join(folder, 'data'),
      SYSFS_ROOT: join(folder, 'rack/sys'),
      DEV_ROOT: join(folder, 'rack/dev'),
    };
    mkdirSync(env.DATA_DIR);
    writeIdentity(env.DATA_DIR, plane.url);
    const name = `doctor on ${MODEMS} modems`;
    try {
      const alone = await measure(env, MODEMS);
      const daemon = await startChild('node-daemon/bin.cjs', env);
      await until(
        'all modems are in service',
        () => rack.modems.every(({ imei }) => plane.modemState(imei) === 'registered'),
        IN_SERVICE_TIMEOUT_MS,
      );
      const through = await measure(env, MODEMS);
      await daemon.stop();
      for (const modem of rack.modems.slice(0, HANGING)) await rack.play(modem, { kind: 'silent' });
      const hanging = await measure(env, MODEMS - HANGING);
      return [
        { name, rounds: alone, unit: 's', target: TARGET, remark: 'without a daemon: modems are opened' },
        { name: `${name}, through the daemon`, rounds: through, unit: 's', target: TARGET },
        { name: `${name}, ${HANGING} of them hang`, rounds: hanging, unit: 's', target: TARGET },
      ];
    } finally {
      await rack.stop();
      await plane.stop();
    }
  });
}

/** Seconds of each round, in which this many modems must be found in service. */
async function measure(env: Record<string, string>, inService: number): Promise<number[]> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    const { stdout } = await runProgram('node-daemon', ['doctor', '--json'], env);
    rounds.push((performance.now() - began) / 1000);
    const { findings } = reportSchema.parse(JSON.parse(stdout));
    const well = findings.filter(({ check, verdict }) => check === 'registration' && verdict === 'ok').length;
    if (well !== inService) throw new Error(`${well} of ${inService} modems in service`);
  }
  return rounds;
}
