// Does the device get the power that it needs?
import { ok, problem, skipped, warning } from '../../finding.ts';
import type { SlotCheck } from '../check.ts';

/** USB 2.0 §7.2.1: a hub without a supply of its own has 500 mA for itself and four ports of 100 mA. */
const BUS_POWERED_MA = 400;
/** What small hosts (Raspberry Pi) have for all their ports together. */
const HOST_MA = 1_200;
/** A modem that restarts goes away too: some are of the daemon's own recovery. */
const DISCONNECTS_MANY = 10;
const ADVICE =
  'a modem draws up to 2 A when it sends: use a hub with a strong power supply of its own, and short cables';

export const usbPower: SlotCheck = ({ onHub, usb }, { host }) => {
  if (usb === undefined) return skipped('no USB device');
  const { configuration, hub, maxPowerMa, overCurrents } = usb;
  if (configuration === null)
    return problem('the kernel did not switch it on: too little power on its hub', ADVICE);
  if (overCurrents !== undefined && overCurrents > 0)
    return problem(`its port was switched off ${overCurrents} times for too much current`, ADVICE);
  const disconnects = host.disconnects.get(usb.usbPath) ?? 0;
  if (disconnects >= DISCONNECTS_MANY)
    return warning(`went away ${disconnects} times since the log of the kernel began`, ADVICE);
  const sumMa = onHub.reduce((sum, each) => sum + (each.maxPowerMa ?? 0), 0);
  const seen = `${maxPowerMa ?? '?'} mA on ${hub.isRoot ? 'a port of the host' : `hub ${hub.path}`}`;
  if (hub.isRoot) {
    if (sumMa <= HOST_MA) return ok(seen);
    return warning(`${sumMa} mA for ${onHub.length} devices on ports of the host`, ADVICE);
  }
  if (hub.isSelfPowered === undefined) return skipped('the kernel does not show its hub');
  if (hub.isSelfPowered) return ok(`${seen}, which has a power supply`);
  if (sumMa > BUS_POWERED_MA)
    return problem(
      `${sumMa} mA for ${onHub.length} devices on hub ${hub.path}, which has no power supply`,
      ADVICE,
    );
  return warning(`hub ${hub.path} has no power supply`, ADVICE);
};
