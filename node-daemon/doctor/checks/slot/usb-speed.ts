// Is the device as fast as it can be?
import { findUsbProduct } from '../../../modem/profiles/find-profile.ts';
import { ok, skipped, warning } from '../../finding.ts';
import type { SlotCheck } from '../check.ts';

const HIGH_SPEED_MBPS = 480;

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
