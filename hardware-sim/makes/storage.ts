// The USB devices of modems while they show a driver disk.
import { STORAGE_INTERFACE, type UsbDescription } from '../usb/usb-description.ts';

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
