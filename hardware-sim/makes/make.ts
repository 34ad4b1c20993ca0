// A make of modems: the data of its model, the device that it shows as a driver disk, and the commands that only it has.
import type { Behavior } from '../behaviors/behavior.ts';
import type { ModemModel } from '../equipment/modem-model.ts';
import { STORAGE_INTERFACE, type UsbDescription } from '../usb/usb-description.ts';

/** Makes that a rack can have. */
export const MAKE_NAMES = ['quectel', 'simcom', 'huawei', 'huawei-e303', 'generic'] as const;
export type MakeName = (typeof MAKE_NAMES)[number];

export interface Make extends ModemModel {
  name: MakeName;
  /** Its own commands. They come before the common ones. */
  behaviors: readonly Behavior[];
}

/** Huawei sticks before they are switched. */
export const HUAWEI_STORAGE: UsbDescription = {
  vendorId: '12d1',
  productId: '1446',
  manufacturer: 'HUAWEI',
  product: 'HUAWEI Mobile',
  interfaces: [STORAGE_INTERFACE],
};

/** Sticks with a Qualcomm chip and no id of their own. */
export const QUALCOMM_STORAGE: UsbDescription = {
  vendorId: '05c6',
  productId: '1000',
  manufacturer: 'Qualcomm, Incorporated',
  product: 'USB MMC Storage',
  interfaces: [STORAGE_INTERFACE],
};
