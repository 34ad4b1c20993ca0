// SIMCom SIM7600: its boot lines, its names for common commands, an audio port of its own.
import { CME, cme, ok } from '../at/answer.ts';
import type { ModemSettings } from '../at/settings.ts';
import { commandFamily, forms } from '../behaviors/behavior.ts';
import { restart } from '../behaviors/general.ts';
import { keptCommands } from '../behaviors/kept-settings.ts';
import { iccidForms } from '../behaviors/sim-card.ts';
import { isRegistered } from '../equipment/registration.ts';
import { vendorInterface } from '../usb/usb-description.ts';
import { type Make, QUALCOMM_STORAGE } from './make.ts';
import { simcomVoice, simcomVoiceCommands, USUAL_BANDWIDTH } from './simcom-voice.ts';

// Commands of SIMCom modems (SIM7500_SIM7600 series AT command manual).

/** AT+AUTOCSQ=1,1: a line whenever the signal has changed. */
function reportsSignal(settings: ModemSettings): boolean {
  return settings.kept.get('+AUTOCSQ')?.startsWith('1') === true;
}

const pinTries = forms({
  execute: (_, { equipment }) => ok(`+SPIC: ${equipment.sim.tries.pin},${equipment.sim.tries.puk},3,10`),
});

const servingCell = forms({
  read: (_, { equipment }) =>
    ok(isRegistered(equipment.registration) ? '+CPSI: LTE,Online,001-01,0x1A2B' : '+CPSI: NO SERVICE,Online'),
  test: () => ok('+CPSI: (0-255)'),
});

/** Automatic, and the other modes of the manual: single technologies and their combinations. */
const RADIO_MODES = ['2', '13', '14', '19', '38', '39', '48', '51', '54'];

/** Stored at once, in effect at once. */
const radioMode = forms({
  set: ({ value }, { equipment }) => {
    if (!RADIO_MODES.includes(value)) return cme(CME.incorrectParameters);
    equipment.flash.set('+CNMP', value);
    return ok();
  },
  read: (_, { equipment }) => ok(`+CNMP: ${equipment.flash.get('+CNMP') ?? '2'}`),
  test: () => ok(`+CNMP: (${RADIO_MODES.join(',')})`),
});

/** +CICCID, +SPIC, +CRESET, +CPSI, +CNMP. */
const simcomCommands = commandFamily('SIMCom', {
  '+CCID': iccidForms('+CCID'),
  '+CICCID': iccidForms('+ICCID'),
  '+SPIC': pinTries,
  '+CRESET': restart,
  '+CPSI': servingCell,
  '+CNMP': radioMode,
  ...keptCommands({
    '+CNSMOD': { initial: '0', range: '(0,1)' },
    '+AUTOCSQ': { initial: '0,0', range: '(0,1),(0,1)' },
    '+EXUNSOL': { initial: '"SQ",0', range: '"SQ",(0,1)' },
    '+CLTS': { initial: '0', range: '(0,1)' },
    '+DDET': { initial: '0', range: '(0,1)' },
    '+CPCMBANDWIDTH': { initial: USUAL_BANDWIDTH, range: '(0,1),(0,1)' },
    '+CMICGAIN': { initial: '3', range: '(0-8)' },
    '+COUTGAIN': { initial: '5', range: '(0-8)' },
    '+CECM': { initial: '1', range: '(0-7)' },
  }),
});

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
      vendorInterface(0, 'ff/ff', 'diag', 2),
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
  behaviors: [simcomVoiceCommands, simcomCommands],
};
