// Quectel EC25: the modem with most of what 3GPP has, and the default of the rack.
import { soundInterfaces, type UsbDescription, vendorInterface } from '../usb/usb-description.ts';
import { type Make, QUALCOMM_STORAGE } from './make.ts';
import { indicates, quectelCommands } from './quectel-commands.ts';
import { quectelVoice, quectelVoiceCommands } from './quectel-voice.ts';

const REVISION = 'EC25AFAR05A06M4G';

/** The NMEA port carries voice samples after `+QPCMV=1,0`. */
const USB: UsbDescription = {
  vendorId: '2c7c',
  productId: '0125',
  manufacturer: 'Quectel',
  product: 'EC25-AF',
  interfaces: [
    vendorInterface(0, 'ff/ff', 'diag', 2),
    vendorInterface(1, '00/00', 'pcm'),
    vendorInterface(2, '00/00', 'at'),
    vendorInterface(3, '00/00', 'at2'),
    vendorInterface(4, 'ff/ff'),
  ],
};

export const quectel: Make = {
  name: 'quectel',
  usb: USB,
  usbWithSound: { ...USB, interfaces: [...USB.interfaces, ...soundInterfaces(USB.interfaces.length)] },
  storage: QUALCOMM_STORAGE,
  comesAsStorage: false,
  manufacturer: 'Quectel',
  model: 'EC25',
  revision: REVISION,
  revisionPrefix: '',
  information: () => ['Quectel', 'EC25', `Revision: ${REVISION}`],
  lines: {
    started: ['RDY', '+CFUN: 1'],
    cardReady: ['+CPIN: READY', '+QUSIM: 1'],
    messagingReady: ['+QIND: SMS DONE', '+QIND: PB DONE'],
    cardRemoved: ['+CPIN: NOT READY'],
    cardInserted: ['+CPIN: READY', '+QUSIM: 1'],
    storeFull: (memory, settings) => (indicates(settings, 'smsfull') ? [`+QIND: "smsfull","${memory}"`] : []),
    signal: (rssi, settings) => (indicates(settings, 'csq') ? [`+QIND: "csq",${rssi},99`] : []),
  },
  voice: quectelVoice,
  behaviors: [quectelVoiceCommands, quectelCommands],
};
