// Quectel EC25: the modem with most of what 3GPP has, and the default of the rack.
import { vendorInterface } from '../usb/usb-description.ts';
import type { Make } from './make.ts';
import { QUALCOMM_STORAGE } from './storage.ts';

/** The NMEA port carries voice samples when it is told to. */
export const quectel: Make = {
  name: 'quectel',
  usb: {
    vendorId: '2c7c',
    productId: '0125',
    manufacturer: 'Quectel',
    product: 'EC25-AF',
    interfaces: [
      vendorInterface(0, 'ff/ff', 'diag'),
      vendorInterface(1, '00/00', 'pcm'),
      vendorInterface(2, '00/00', 'at'),
      vendorInterface(3, '00/00', 'at2'),
      vendorInterface(4, 'ff/ff'),
    ],
  },
  storage: QUALCOMM_STORAGE,
  comesAsStorage: false,
};
