// Has the kernel made serial ports of the modem's interfaces?
import { findUsbProduct } from '../../../modem/profiles/find-profile.ts';
import { ok, problem, skipped, warning } from '../../finding.ts';
import type { SlotCheck } from '../check.ts';

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
