// SIMCom SIM7600: its boot lines, its names for common commands, an audio port of its own.
import { vendorInterface } from '../usb/usb-description.ts';
import type { Make } from './make.ts';
import { reportsSignal, simcomCommands } from './simcom-commands.ts';
import { simcomVoice, simcomVoiceCommands } from './simcom-voice.ts';
import { QUALCOMM_STORAGE } from './storage.ts';

const MANUFACTURER = 'SIMCOM INCORPORATED';
const MODEL = 'SIMCOM_SIM7600G-H';
const REVISION = 'LE20B04SIM7600G22';

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
  manufacturer: MANUFACTURER,
  model: MODEL,
  revision: REVISION,
  revisionPrefix: '+CGMR: ',
  information: (imei) => [
    `Manufacturer: ${MANUFACTURER}`,
    `Model: ${MODEL}`,
    `Revision: ${REVISION}`,
    `IMEI: ${imei}`,
    '+GCAP: +CGSM',
  ],
  lines: {
    started: ['RDY'],
    cardReady: ['+CPIN: READY'],
    messagingReady: ['SMS DONE', 'PB DONE'],
    cardRemoved: ['+SIMCARD: NOT AVAILABLE'],
    cardInserted: ['+CPIN: READY', 'SMS DONE', 'PB DONE'],
    storeFull: () => ['+SMS FULL'],
    signal: (rssi, settings) => (reportsSignal(settings) ? [`+CSQ: ${rssi},99`] : []),
  },
  voice: simcomVoice,
  behaviours: [simcomVoiceCommands, simcomCommands],
};
