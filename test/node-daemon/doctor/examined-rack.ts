// A simulated rack that a doctor examines in this process, by opening it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { SimulatedModem } from '#hardware-sim/modem/modem.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '#hardware-sim/simulator.ts';
import { parseConfig } from '#node-daemon/config/config-file.ts';
import type { DaemonSettings } from '#node-daemon/config/options.ts';
import { type ExaminationParts, examine } from '#node-daemon/doctor/examination.ts';
import { rackAccessOf } from '#node-daemon/doctor/examine-rack.ts';
import type { DoctorReport, Finding } from '#node-daemon/doctor/report/report.ts';
import { openNodeOperator } from '#node-daemon/operator/open-operator.ts';
import { HangGuard } from '#node-daemon/system/hang-guard.ts';
import { systemClock } from '#shared/clock.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { ScriptedControlPlane } from '../link/scripted-control-plane.ts';

interface ExaminedRack {
  readonly simulator: Simulator;
  readonly settings: DaemonSettings;
  /** Path of an attribute of a device in the simulated sysfs. */
  sysfs(usbPath: string, attribute: string): string;
  modem(index: number): SimulatedModem;
  examine(parts?: Partial<ExaminationParts>): Promise<DoctorReport>;
}

/** Everything ends with the test. */
export async function startExaminedRack(
  t: Test,
  { config = '', ...rack }: Omit<SimulatorOptions, 'dir'> & { config?: string },
): Promise<ExaminedRack> {
  const folder = temporaryFolder(t);
  const plane = await ScriptedControlPlane.start();
  const simulator = await startSimulator({ ...rack, dir: join(folder, 'rack') });
  t.teardown(async () => {
    await simulator.stop();
    await plane.stop();
  });
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeIdentity(dataDir, plane.url);
  const parsed = parseConfig(config.replaceAll('%DIR%', simulator.dir), 'node.yaml');
  const settings: DaemonSettings = {
    dataDir,
    logLevel: 'error',
    sysfsRoot: join(simulator.dir, 'sys'),
    devRoot: join(simulator.dir, 'dev'),
    config: { ...parsed, discover: parsed.discover ?? true },
  };
  return {
    simulator,
    settings,
    sysfs: (usbPath, attribute) => join(settings.sysfsRoot, 'bus/usb/devices', usbPath, attribute),
    modem(index) {
      const modem = simulator.modems[index];
      if (modem === undefined) throw new Error(`no modem ${index}`);
      return modem;
    },
    async examine(parts = {}) {
      const operator = openNodeOperator(settings, { tool: 'doctor', waitsForModems: false });
      try {
        return await examine(settings, {
          guard: new HangGuard(systemClock, 32),
          playsTones: false,
          openRack: async () => rackAccessOf(await operator),
          ...parts,
        });
      } finally {
        await (await operator).close();
      }
    },
  };
}

/** The finding of one check. */
export function findingOf({ findings }: DoctorReport, check: string, slot: string | null = null): Finding {
  const finding = findings.find((each) => each.check === check && each.slot === slot);
  if (finding === undefined) throw new Error(`no finding of ${check} in ${slot ?? 'the host'}`);
  return finding;
}

/** The warnings and problems in a slot, by check. */
export function unwellIn({ findings }: DoctorReport, slot: string): string[] {
  return findings
    .filter((each) => each.slot === slot && (each.verdict === 'warning' || each.verdict === 'problem'))
    .map(({ check }) => check);
}
