// SIMCom SIM7600: its boot lines, its names for common commands, an audio port of its own.
import { vendorInterface } from '../usb/usb-description.ts';
import type { Make } from './make.ts';
import { QUALCOMM_STORAGE } from './storage.ts';

export const simcom: Make = {
  name: 'simcom',
  usb: {
    vendorId: '1e0e',
    productId: '9001',
    manufacturer: 'SimTech, Incorporated',
    product: 'SimTech, Incorporated',
    interfaces: [
      vendorInterface(0, 'ff/ff', 'diag'),
      vendorInterface(1, '00/00', 'nmea'),
      vendorInterface(2, '00/00', 'at'),
      vendorInterface(3, '00/00', 'at2'),
      vendorInterface(4, '00/00', 'pcm'),
      vendorInterface(5, 'ff/ff'),
    ],
  },
  storage: QUALCOMM_STORAGE,
  comesAsStorage: false,
};
