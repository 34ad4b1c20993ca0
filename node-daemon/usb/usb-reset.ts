// Resets a USB device: removes it from the system and adds it again.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '#shared/clock.ts';
import type { HangGuard } from '../system/hang-guard.ts';
import { hubPortOf, runCommand } from './operator-command.ts';

/** Resets the device at a USB path. Rejects if the system refuses or does not answer. */
type ResetUsb = (usbPath: string) => Promise<void>;

/** Time in which drivers release the device. */
const OUT_MS = 500;
/** Time limit. The kernel waits some seconds per attempt for a device that does not answer. */
const RESET_TIMEOUT_MS = 20_000;

/** The parts that a reset through sysfs uses. */
interface AuthorizedResetParts {
  /** /sys on a real system. */
  readonly sysfsRoot: string;
  readonly clock: Clock;
  readonly guard: HangGuard;
}

/**
 * Writes 0 and then 1 to the device's `authorized`: the drivers release the device and bind it again. The device keeps its power. Needs
 * the right to write that file.
 */
export function authorizedReset({ sysfsRoot, clock, guard }: AuthorizedResetParts): ResetUsb {
  return async (usbPath) => {
    const file = join(sysfsRoot, 'bus/usb/devices', usbPath, 'authorized');
    await guard.call({
      key: file,
      timeoutMs: RESET_TIMEOUT_MS,
      mustRun: true,
      async run() {
        // "r+" does not create a missing file.
        await writeFile(file, '0', { flag: 'r+' });
        await sleep(clock, OUT_MS);
        await writeFile(file, '1', { flag: 'r+' });
      },
    });
  };
}

/** Turns the power of the hub's port off and on, with the program uhubctl. */
export const uhubctlReset: ResetUsb = async (usbPath) => {
  const { hub, port } = hubPortOf(usbPath);
  await runCommand(['uhubctl', '-l', hub, '-p', port, '-a', 'cycle']);
};
