// May the kernel put the device to sleep?
import { ok, skipped, warning } from '../../finding.ts';
import type { SlotCheck } from '../check.ts';

export const autosuspend: SlotCheck = ({ usb }) => {
  if (usb?.powerControl === undefined) return skipped('the kernel does not show it');
  if (usb.powerControl === 'on') return ok('off');
  return warning(
    `on (power/control is "${usb.powerControl}")`,
    `a modem that sleeps loses what it announces: echo on > /sys/bus/usb/devices/${usb.usbPath}/power/control; the udev rules of the daemon do it for good (and powertop or tlp undo it)`,
  );
};
