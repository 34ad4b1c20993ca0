// Checks of a modem as a USB device: mode, driver, power, speed and autosuspend.
import { findUsbProduct } from '../../modem/profiles/find-profile.ts';
import { ok, problem, skipped, warning } from '../report/finding.ts';
import type { SlotCheck } from './check.ts';

/** Is the device a modem, or still the disk with its drivers for Windows? */
export const usbMode: SlotCheck = ({ device, place }) => {
  if (device === undefined) return skipped('no USB device');
  const { vendor, product } = device.id;
  if (place?.reason !== 'mass_storage') return ok(`modem (${vendor}:${product})`);
  return problem(
    `shows a disk (${vendor}:${product}): mass-storage mode`,
    `apt install usb-modeswitch, then plug it in again; or by hand: usb_modeswitch -v ${vendor} -p ${product} -J (for a Huawei), or mode_switch in the configuration file`,
  );
};

/** Has the kernel made serial ports of the modem's interfaces? */
export const driver: SlotCheck = ({ device, place }) => {
  if (device === undefined || place?.reason === 'mass_storage') return skipped('no modem over USB');
  const { vendor, product } = device.id;
  const ttys = device.interfaces.filter(({ tty }) => tty !== undefined);
  const bind = `modprobe option && echo ${vendor} ${product} > /sys/bus/usb-serial/drivers/option1/new_id`;
  const known = findUsbProduct(device.id);
  if (ttys.length === 0) {
    if (known === undefined)
      return problem(
        `${vendor}:${product} has no serial port and no profile knows it`,
        `if it is a stick in HiLink mode (a network card) it cannot be used; else: ${bind}`,
      );
    return problem(
      'no serial port: the driver is missing, or a reset was cut in its middle',
      `plug it in again; else: ${bind}`,
    );
  }
  const wanted = known === undefined ? [] : [...known.atInterfaces, known.audioInterface ?? []].flat();
  const missing = wanted.filter((number) => !ttys.some((each) => each.number === number));
  // Makes list interfaces that not every firmware has: one for commands is enough.
  const hasAt = known?.atInterfaces.some((number) => !missing.includes(number)) ?? true;
  if (!hasAt) return problem(`no serial port at interface ${missing.join(', ')}, where commands are`, bind);
  if (known?.audioInterface !== undefined && missing.includes(known.audioInterface))
    return warning(`no serial port at interface ${known.audioInterface}, where the audio of calls is`, bind);
  return ok(`${ttys.length} serial ports`);
};

/** USB 2.0 §7.2.1: a hub without a supply of its own has 500 mA for itself and four ports of 100 mA. */
const BUS_POWERED_MA = 400;
/** The current that small hosts (Raspberry Pi) have for all their ports together. */
const HOST_MA = 1_200;
/** A modem that restarts goes away too: some are of the daemon's own recovery. */
const DISCONNECTS_MANY = 10;
const ADVICE =
  'a modem draws up to 2 A when it sends: use a hub with a strong power supply of its own, and short cables';

/** Does the device get the power that it needs? */
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

const HIGH_SPEED_MBPS = 480;

/** Is the device as fast as it can be? */
export const usbSpeed: SlotCheck = ({ device, usb }) => {
  if (device === undefined || usb?.speedMbps === undefined) return skipped('the kernel does not show it');
  const { speedMbps, usbVersion } = usb;
  const isSlow = speedMbps < HIGH_SPEED_MBPS && usbVersion !== undefined && usbVersion >= 2;
  // Of other makes some speak USB 2.0 at 12 Mbit/s.
  if (!isSlow || findUsbProduct(device.id) === undefined) return ok(`${speedMbps} Mbit/s`);
  return warning(
    `${speedMbps} Mbit/s, and could have ${HIGH_SPEED_MBPS}`,
    'its cable or hub is bad: exchange them, for it will lose the modem',
  );
};

/** May the kernel put the device to sleep? */
export const autosuspend: SlotCheck = ({ usb }) => {
  if (usb?.powerControl === undefined) return skipped('the kernel does not show it');
  if (usb.powerControl === 'on') return ok('off');
  return warning(
    `on (power/control is "${usb.powerControl}")`,
    `a modem that sleeps loses what it announces: echo on > /sys/bus/usb/devices/${usb.usbPath}/power/control; the udev rules of the daemon do it for good (and powertop or tlp undo it)`,
  );
};
