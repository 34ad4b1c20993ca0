// Huawei sticks: commands that begin with ^, and a disk that comes before the modem.
import { STORAGE_INTERFACE, vendorInterface } from '../usb/usb-description.ts';
import type { Make } from './make.ts';
import { HUAWEI_STORAGE } from './storage.ts';

/** E1750 and its like: nothing but trying tells which of the three ports is for commands. */
export const huawei: Make = {
  name: 'huawei',
  usb: {
    vendorId: '12d1',
    productId: '1001',
    manufacturer: 'HUAWEI Technology',
    product: 'HUAWEI Mobile',
    interfaces: [
      vendorInterface(0, 'ff/ff', 'at2'),
      vendorInterface(1, 'ff/ff', 'pcm'),
      vendorInterface(2, 'ff/ff', 'at'),
      { ...STORAGE_INTERFACE, number: 3 },
    ],
  },
  storage: HUAWEI_STORAGE,
  comesAsStorage: true,
};

/** E303: the protocol of an interface tells modem (01), diagnostics (03) and commands (02) apart. */
export const huaweiE303: Make = {
  name: 'huawei-e303',
  usb: {
    vendorId: '12d1',
    productId: '1506',
    manufacturer: 'HUAWEI Technology',
    product: 'HUAWEI Mobile',
    interfaces: [
      vendorInterface(0, '01/01', 'at2'),
      vendorInterface(1, '01/03', 'pcm'),
      vendorInterface(2, '01/02', 'at'),
      { ...STORAGE_INTERFACE, number: 3 },
    ],
  },
  storage: HUAWEI_STORAGE,
  comesAsStorage: true,
};
