// Finds the profile of a modem: by its USB id before it is opened, by its own identification afterwards.
import { isSameUsbId, type UsbId } from '../usb/usb-device.ts';
import { GENERIC } from './generic.ts';
import { HUAWEI } from './huawei.ts';
import type { ModemProfile, UsbProduct } from './profile.ts';
import { QUECTEL } from './quectel.ts';
import { SIMCOM } from './simcom.ts';

/** All makes. The generic one is last, because it matches every modem. */
export const PROFILES: readonly ModemProfile[] = [QUECTEL, SIMCOM, HUAWEI, GENERIC];

/**
 * Returns the profile of a modem: by its answer to ATI first, because resellers change USB ids, then by its USB id. Any other modem gets
 * the generic profile.
 */
export function findProfile(identification: readonly string[], usbId?: UsbId): ModemProfile {
  const text = identification.join(' ');
  const named = PROFILES.find((profile) => profile !== GENERIC && profile.matches.test(text));
  return named ?? PROFILES.find(({ usb }) => usb.some((product) => isSameUsbId(product, usbId))) ?? GENERIC;
}

/** Returns the product with this USB id in modem mode; `undefined` if no profile has it. */
export function findUsbProduct(usbId: UsbId): UsbProduct | undefined {
  return PROFILES.flatMap(({ usb }) => usb).find((product) => isSameUsbId(product, usbId));
}

/** Returns whether the device is a modem in mass-storage mode. */
export function isStorageMode(usbId: UsbId): boolean {
  return PROFILES.some(({ usbStorage }) => usbStorage.some((product) => isSameUsbId(product, usbId)));
}
