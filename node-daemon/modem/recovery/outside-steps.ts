// The recovery steps that act on a modem from outside, as configured.
import type { Clock } from '#shared/clock.ts';
import type { NodeConfig, RecoverySettings } from '../../config/node-config.ts';
import type { HangGuard } from '../../system/hang-guard.ts';
import { fillIn, hubPortOf, runCommand } from '../../usb/operator-command.ts';
import { authorizedReset, uhubctlReset } from '../../usb/usb-reset.ts';
import type { Place, UsbPlace } from '../place/place.ts';
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
    runCommand(fillIn(words, { usb_path: path, vendor: id.vendor, product: id.product, ...hubPortOf(path) }));
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
