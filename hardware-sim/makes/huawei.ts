// Huawei sticks: commands that begin with ^, and a disk that comes before the modem.
import { ussd } from '../behaviours/ussd.ts';
import { STORAGE_INTERFACE, type UsbInterface, vendorInterface } from '../usb/usb-description.ts';
import { huaweiCommands, isChatty } from './huawei-commands.ts';
import { huaweiVoice, huaweiVoiceCommands } from './huawei-voice.ts';
import type { Make } from './make.ts';
import { HUAWEI_STORAGE } from './storage.ts';

/** The differences between E1750 and E303. */
interface Stick {
  name: 'huawei' | 'huawei-e303';
  productId: string;
  model: string;
  revision: string;
  interfaces: readonly UsbInterface[];
  /** The answer of ^ICCID?. */
  shownIccid: (iccid: string) => string;
}

function huaweiMake({ name, productId, model, revision, interfaces, shownIccid }: Stick): Make {
  return {
    name,
    usb: {
      vendorId: '12d1',
      productId,
      manufacturer: 'HUAWEI Technology',
      product: 'HUAWEI Mobile',
      interfaces: [...interfaces, { ...STORAGE_INTERFACE, number: interfaces.length }],
    },
    storage: HUAWEI_STORAGE,
    comesAsStorage: true,
    manufacturer: 'huawei',
    model,
    revision,
    revisionPrefix: '',
    information: (imei) => [
      'Manufacturer: huawei',
      `Model: ${model}`,
      `Revision: ${revision}`,
      `IMEI: ${imei}`,
      '+GCAP: +CGSM,+DS,+ES',
    ],
    lines: {
      started: ['^SYSSTART', '^BOOT:20852263,0,0,0,75'],
      cardReady: ['^SIMST:1'],
      messagingReady: ['^SRVST:2'],
      cardRemoved: ['^SIMST:255'],
      cardInserted: ['^SIMST:1'],
      storeFull: (memory) => [`^SMMEMFULL:"${memory}"`],
      signal: (rssi, settings) => (isChatty(settings) ? [`^RSSI:${rssi}`] : []),
    },
    voice: huaweiVoice,
    behaviours: [huaweiVoiceCommands, huaweiCommands(shownIccid), ussd({ isPacked: true })],
  };
}

/** Semi-octets as the card has them, with the filler: each pair of digits swapped. */
function swapped(iccid: string): string {
  return iccid.padEnd(20, 'F').replace(/(.)(.)/g, '$2$1');
}

/** E1750 and similar sticks: only trying shows which of the three ports is for commands. */
export const huawei = huaweiMake({
  name: 'huawei',
  productId: '1001',
  model: 'E1750',
  revision: '11.126.08.01.00',
  interfaces: [
    vendorInterface(0, 'ff/ff', 'at2'),
    vendorInterface(1, 'ff/ff', 'pcm'),
    vendorInterface(2, 'ff/ff', 'at'),
  ],
  shownIccid: swapped,
});

/** E303: the protocol of an interface distinguishes modem (01), diagnostics (03) and commands (02). */
export const huaweiE303 = huaweiMake({
  name: 'huawei-e303',
  productId: '1506',
  model: 'E303',
  revision: '22.318.27.00.00',
  interfaces: [
    vendorInterface(0, '01/01', 'at2'),
    vendorInterface(1, '01/03', 'pcm'),
    vendorInterface(2, '01/02', 'at'),
  ],
  shownIccid: (iccid) => `${iccid}F`,
});
