// Checks of a modem as a USB device: mode, driver, power, speed and autosuspend.
import { ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { findUsbProduct } from '../../profiles/find-profile.ts';
import type { SlotCheck } from './check.ts';

/** Is the device a modem, or still a disk with drivers for Windows? */
export const usbMode: SlotCheck = ({ device, place }) => {
  if (device === undefined) return skipped('not a USB device');
  const { vendor, product } = device.id;
  if (place?.reason !== 'mass_storage') return ok(`modem (${vendor}:${product})`);
  return problem(
    `in mass-storage mode (${vendor}:${product}): it shows a disk`,
    `Run apt install usb-modeswitch, then plug the modem in again. Or switch it by hand: usb_modeswitch -v ${vendor} -p ${product} -J (for a Huawei). Or set mode_switch in the configuration file.`,
  );
};

/** Did the kernel create serial ports for the modem's interfaces? */
export const driver: SlotCheck = ({ device, place }) => {
  if (device === undefined || place?.reason === 'mass_storage') return skipped('not a USB modem');
  const { vendor, product } = device.id;
  const ttys = device.interfaces.filter(({ tty }) => tty !== undefined);
  const bind = `modprobe option && echo ${vendor} ${product} > /sys/bus/usb-serial/drivers/option1/new_id`;
  const known = findUsbProduct(device.id);
  if (ttys.length === 0) {
    if (known === undefined)
      return problem(
        `${vendor}:${product} has no serial port and matches no profile`,
        `A stick in HiLink mode (a network card) cannot be used. For any other modem run: ${bind}`,
      );
    return problem(
      'no serial port: the driver is missing, or a reset was interrupted',
      `Plug the modem in again. If that does not help, run: ${bind}`,
    );
  }
  const wanted = known === undefined ? [] : [...known.atInterfaces, known.audioInterface ?? []].flat();
  const missing = wanted.filter((number) => !ttys.some((each) => each.number === number));
  // Not every firmware has all interfaces that its maker lists. One command interface is enough.
  const hasAt = known?.atInterfaces.some((number) => !missing.includes(number)) ?? true;
  if (!hasAt) return problem(`no serial port at the command interface ${missing.join(', ')}`, `Run: ${bind}`);
  if (known?.audioInterface !== undefined && missing.includes(known.audioInterface))
    return warning(`no serial port at the audio interface ${known.audioInterface}`, `Run: ${bind}`);
  return ok(`${ttys.length} serial ports`);
};

/** The current that a port must be able to give, and so the supply of a hub without its own: USB 2.0 §7.2.1, USB 3.2 §11.4.1. */
const portMa = (speedMbps: number | undefined): number => ((speedMbps ?? 0) >= 5_000 ? 900 : 500);
/** Current of a hub that does not report it. */
const HUB_MA = 100;
/** The current that small hosts (Raspberry Pi) have for all their ports together. */
const HOST_MA = 1_200;
/** A restart of the modem is a disconnect too, so some come from the daemon's own recovery. */
const DISCONNECTS_MANY = 10;
const ADVICE =
  'Use a hub with a strong power supply of its own, and short cables. A modem draws up to 2 A when it sends.';

/** Does the device get the power that it needs? */
export const usbPower: SlotCheck = ({ onHub, usb }, { host }) => {
  if (usb === undefined) return skipped('not a USB device');
  const { configuration, hub, maxPowerMa, overCurrents } = usb;
  if (configuration === null)
    return problem('the kernel did not turn it on: its hub has too little power', ADVICE);
  if (maxPowerMa !== undefined && maxPowerMa > portMa(hub.speedMbps))
    return problem(`${maxPowerMa} mA at a port that gives ${portMa(hub.speedMbps)} mA`, ADVICE);
  if (overCurrents !== undefined && overCurrents > 0)
    return problem(`the hub turned its port off ${overCurrents} times because of too much current`, ADVICE);
  const disconnects = host.disconnects.get(usb.usbPath) ?? 0;
  if (disconnects >= DISCONNECTS_MANY)
    return warning(`disconnected ${disconnects} times since the kernel log began`, ADVICE);
  const sumMa = onHub.reduce((sum, each) => sum + (each.maxPowerMa ?? 0), 0);
  const seen = `${maxPowerMa ?? '?'} mA on ${hub.isRoot ? 'a port of the host' : `hub ${hub.path}`}`;
  if (hub.isRoot) {
    if (sumMa <= HOST_MA) return ok(seen);
    return warning(`${sumMa} mA for ${onHub.length} devices on ports of the host`, ADVICE);
  }
  if (hub.isSelfPowered === undefined) return skipped('the kernel does not report its hub');
  if (hub.isSelfPowered) return ok(`${seen}, which has a power supply`);
  const leftMa = portMa(hub.speedMbps) - (hub.maxPowerMa ?? HUB_MA);
  if (sumMa > leftMa)
    return problem(
      `${sumMa} mA for ${onHub.length} devices on hub ${hub.path}, which has no power supply and gets ${leftMa} mA for them`,
      ADVICE,
    );
  return warning(`hub ${hub.path} has no power supply`, ADVICE);
};

const HIGH_SPEED_MBPS = 480;

/** Is the device as fast as it can be? */
export const usbSpeed: SlotCheck = ({ device, usb }) => {
  if (device === undefined || usb?.speedMbps === undefined) return skipped('the kernel does not report it');
  const { speedMbps, usbVersion } = usb;
  const isSlow = speedMbps < HIGH_SPEED_MBPS && usbVersion !== undefined && usbVersion >= 2;
  // Some other makes use USB 2.0 at 12 Mbit/s.
  if (!isSlow || findUsbProduct(device.id) === undefined) return ok(`${speedMbps} Mbit/s`);
  return warning(
    `${speedMbps} Mbit/s instead of ${HIGH_SPEED_MBPS}`,
    'Replace its cable or its hub. A bad one will lose the modem.',
  );
};

/** May the kernel put the device to sleep? */
export const autosuspend: SlotCheck = ({ usb }) => {
  if (usb?.powerControl === undefined) return skipped('the kernel does not report it');
  if (usb.powerControl === 'on') return ok('off');
  return warning(
    `on (power/control is "${usb.powerControl}")`,
    `Run "echo on > /sys/bus/usb/devices/${usb.usbPath}/power/control" as root, or install the daemon’s udev rules. A modem that sleeps loses messages and calls. powertop and tlp turn autosuspend on again.`,
  );
};
