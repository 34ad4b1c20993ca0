// A stick without a name that knows the 3GPP commands and no others.
import { commandFamily } from '../behaviours/behaviour.ts';
import { iccidForms } from '../behaviours/sim-card.ts';
import { causeText } from '../calls/cause.ts';
import { vendorInterface } from '../usb/usb-description.ts';
import type { MakeVoice } from '../voice/make-voice.ts';
import { type Make, QUALCOMM_STORAGE } from './make.ts';

/** 4 URBs of 4096 octets, as the Linux `option` driver has them for each port. */
export const DRIVER_BUFFER_BYTES = 4 * 4096;

const genericVoice: MakeVoice = {
  lines: () => [],
  connectsBeforeOk: false,
  missedLines: () => [],
  endReport: ({ cause }) => causeText(cause),
  detectedKey: () => undefined,
  audio: {
    isAlwaysOn: true,
    bufferBytes: DRIVER_BUFFER_BYTES,
    rateHz: () => 8000,
    mixesNmea: () => true,
  },
};

export const generic: Make = {
  name: 'generic',
  usb: {
    vendorId: '1c9e',
    productId: '9603',
    manufacturer: 'USB Modem',
    product: 'USB Modem',
    interfaces: [
      vendorInterface(0, 'ff/ff', 'diag'),
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
  voice: genericVoice,
  behaviours: [commandFamily('generic', { '+CCID': iccidForms('+CCID') })],
};
