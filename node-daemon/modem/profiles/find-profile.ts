// Finds the make of a modem: by its USB id before it is opened, by its own identification afterwards.

import type { UsbId } from '../../usb/usb-device.ts';
import { GENERIC } from './generic.ts';
import { HUAWEI } from './huawei.ts';
import type { ModemProfile, UsbProduct } from './profile.ts';
import { QUECTEL } from './quectel.ts';
import { SIMCOM } from './simcom.ts';

/** All makes; the generic one is last, for it matches everything. */
export const PROFILES: readonly ModemProfile[] = [QUECTEL, SIMCOM, HUAWEI, GENERIC];

/**
 * The profile of a modem. Its answer to ATI comes first where that is known, because resellers change USB ids. Its USB id comes next.
 * Otherwise the modem gets the generic profile.
 */
export function findProfile(identification: readonly string[], usbId?: UsbId): ModemProfile {
  const text = identification.join(' ');
  const named = PROFILES.find((profile) => profile !== GENERIC && profile.matches.test(text));
  return named ?? profileOfUsb(usbId) ?? GENERIC;
}

/** The product with this USB id in modem mode; `undefined` when no profile knows it. */
export function findUsbProduct(usbId: UsbId): UsbProduct | undefined {
  return PROFILES.flatMap(({ usb }) => usb).find((product) => isSame(product, usbId));
}

/** Whether the device is a modem that arrived as storage and waits to be switched. */
export function isStorageMode(usbId: UsbId): boolean {
  return PROFILES.some(({ usbStorage }) => usbStorage.some((product) => isSame(product, usbId)));
}

function profileOfUsb(usbId: UsbId | undefined): ModemProfile | undefined {
  if (usbId === undefined) return undefined;
  return PROFILES.find(({ usb }) => usb.some((product) => isSame(product, usbId)));
}

function isSame(one: UsbId, other: UsbId): boolean {
  return one.vendor === other.vendor && one.product === other.product;
}
