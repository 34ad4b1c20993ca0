// A stick without a name that knows the 3GPP commands and no others.
import { commandFamily } from '../behaviors/behavior.ts';
import { iccidForms } from '../behaviors/sim-card.ts';
import { vendorInterface } from '../usb/usb-description.ts';
import { USUAL_VOICE } from '../voice/make-voice.ts';
import { type Make, QUALCOMM_STORAGE } from './make.ts';

export const generic: Make = {
  name: 'generic',
  usb: {
    vendorId: '1c9e',
    productId: '9603',
    manufacturer: 'USB Modem',
    product: 'USB Modem',
    interfaces: [
      vendorInterface(0, 'ff/ff', 'diag', 2),
      vendorInterface(1, 'ff/ff', 'at'),
      vendorInterface(2, 'ff/ff', 'at2'),
      vendorInterface(3, 'ff/ff', 'pcm'),
    ],
  },
  storage: QUALCOMM_STORAGE,
  comesAsStorage: false,
  manufacturer: 'Generic',
  model: 'W14',
  revision: 'W14_01.04',
  revisionPrefix: '',
  information: () => ['Generic', 'W14', 'W14_01.04'],
  lines: {
    started: [],
    cardReady: [],
    messagingReady: [],
    cardRemoved: [],
    cardInserted: [],
    storeFull: () => [],
    signal: () => [],
  },
  voice: USUAL_VOICE,
  behaviors: [commandFamily('generic', { '+CCID': iccidForms('+CCID') })],
};
