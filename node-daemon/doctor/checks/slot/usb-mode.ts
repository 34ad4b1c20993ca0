// Is the device a modem, or still the disk with its drivers for Windows?
import { ok, problem, skipped } from '../../finding.ts';
import type { SlotCheck } from '../check.ts';

export const usbMode: SlotCheck = ({ device, place }) => {
  if (device === undefined) return skipped('no USB device');
  const { vendor, product } = device.id;
  if (place?.reason !== 'mass_storage') return ok(`modem (${vendor}:${product})`);
  return problem(
    `shows a disk (${vendor}:${product}): mass-storage mode`,
    `apt install usb-modeswitch, then plug it in again; or by hand: usb_modeswitch -v ${vendor} -p ${product} -J (for a Huawei), or mode_switch in the configuration file`,
  );
};
