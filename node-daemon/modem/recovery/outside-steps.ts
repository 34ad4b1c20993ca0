// The recovery steps that act on a modem from outside, as configured: a command of the operator, or a reset of its USB device.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '#shared/clock.ts';
import type { NodeConfig, RecoverySettings } from '../../config/node-config.ts';
import type { Place, UsbPlace } from '../../slot/place.ts';
import type { HangGuard } from '../../system/hang-guard.ts';
import { fillIn, hubPortOf, runOperatorCommand } from '../../usb/operator-command.ts';
import type { RecoveryLimits } from './recovery.ts';

/** The configured steps. Each rejects if it fails. */
export interface OutsideSteps {
  readonly resetUsb?: ((usb: UsbPlace) => Promise<void>) | undefined;
  readonly powerCycle?: ((usb: UsbPlace) => Promise<void>) | undefined;
  /** Switches a stick from its disk to its modem. */
  readonly switchMode?: ((usb: UsbPlace) => Promise<void>) | undefined;
}

/** The parts that the steps use. */
interface OutsideParts {
  /** /sys on a real system. */
  readonly sysfsRoot: string;
  readonly clock: Clock;
  readonly guard: HangGuard;
}

/** Returns the steps that a configuration allows. */
export function outsideSteps({ modeSwitch, recovery }: NodeConfig, parts: OutsideParts): OutsideSteps {
  const reset = { authorized: authorizedReset(parts), uhubctl: uhubctlReset, off: undefined }[
    recovery.usbReset
  ];
  return {
    resetUsb: reset && (({ path }) => reset(path)),
    powerCycle: commandStep(recovery.powerCycle),
    switchMode: commandStep(modeSwitch),
  };
}

/** Returns the maximum number of each step in an hour. */
export function recoveryLimits({ perHour }: RecoverySettings): RecoveryLimits {
  const { radio, restart, usbReset, powerCycle } = perHour;
  return { radio, restart, usb_reset: usbReset, power_cycle: powerCycle };
}

function commandStep(words: readonly string[] | undefined): OutsideSteps['powerCycle'] {
  if (words === undefined) return undefined;
  return ({ path, id }) =>
    runOperatorCommand(
      fillIn(words, { usb_path: path, vendor: id.vendor, product: id.product, ...hubPortOf(path) }),
    );
}

/** Returns the limits at the place of a modem. Steps that need a USB device are impossible without one. */
export function limitsAt(place: Place, outside: OutsideSteps, limits: RecoveryLimits): RecoveryLimits {
  const hasUsb = place.usb !== undefined;
  return {
    ...limits,
    usb_reset: hasUsb && outside.resetUsb !== undefined ? limits.usb_reset : 0,
    power_cycle: hasUsb && outside.powerCycle !== undefined ? limits.power_cycle : 0,
  };
}

/** The file of a USB device that turns it off and on. */
export const authorizedFile = (sysfsRoot: string, usbPath: string): string =>
  join(sysfsRoot, 'bus/usb/devices', usbPath, 'authorized');

/** Resets the device at a USB path. Rejects if the system refuses or does not answer. */
type ResetUsb = (usbPath: string) => Promise<void>;

/** Time in which drivers release the device. */
const OUT_MS = 500;
/** Time limit. The kernel waits some seconds per attempt for a device that does not answer. */
const RESET_TIMEOUT_MS = 20_000;

/**
 * Writes 0 and then 1 to the device's `authorized`: the drivers release the device and bind it again. The device keeps its power. Needs
 * the right to write that file.
 */
export function authorizedReset({ sysfsRoot, clock, guard }: OutsideParts): ResetUsb {
  return async (usbPath) => {
    const file = authorizedFile(sysfsRoot, usbPath);
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
const uhubctlReset: ResetUsb = async (usbPath) => {
  const { hub, port } = hubPortOf(usbPath);
  await runOperatorCommand(['uhubctl', '-l', hub, '-p', port, '-a', 'cycle']);
};
