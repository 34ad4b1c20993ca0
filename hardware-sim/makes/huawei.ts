// Huawei sticks: commands that begin with ^, and a disk that comes before the modem.
import { ok } from '../at/answer.ts';
import type { ModemSettings } from '../at/settings.ts';
import { type Behavior, commandFamily, forms } from '../behaviors/behavior.ts';
import { restart } from '../behaviors/general.ts';
import { keptCommands } from '../behaviors/kept-settings.ts';
import { iccidOf, shownSimState } from '../behaviors/sim-card.ts';
import { ussd } from '../behaviors/ussd.ts';
import { isRegistered } from '../equipment/registration.ts';
import { STORAGE_INTERFACE, type UsbInterface, vendorInterface } from '../usb/usb-description.ts';
import { huaweiVoice, huaweiVoiceCommands } from './huawei-voice.ts';
import { HUAWEI_STORAGE, type Make } from './make.ts';

// Commands of Huawei sticks (Huawei datacard AT command interface specification).

/** ^CURC=0 silences the lines that come by themselves now and then. */
function isChatty(settings: ModemSettings): boolean {
  return settings.kept.get('^CURC') !== '0';
}

/** ^CPIN: state, tries of what is asked for, then of PUK, PIN, PUK2, PIN2. */
const pinState = forms({
  read: (_, context) => {
    const { tries } = context.equipment.sim;
    const shown = shownSimState(context);
    const asked = { 'SIM PIN': String(tries.pin), 'SIM PUK': String(tries.puk) }[shown] ?? '';
    return ok(`^CPIN: ${shown},${asked},${tries.puk},${tries.pin},10,3`);
  },
});

/** Service, domain, roaming, mode 5 WCDMA, SIM. */
const systemInformation = forms({
  execute: (_, { equipment }) => {
    const hasService = isRegistered(equipment.registration);
    return ok(`^SYSINFO:${hasService ? '2,3,0,5' : '0,0,0,0'},${equipment.sim.state === 'ready' ? 1 : 255}`);
  },
});

const extendedSignal = forms({
  read: (_, { equipment }) =>
    ok(isRegistered(equipment.registration) ? '^HCSQ:"WCDMA",40,38,45' : '^HCSQ:"NOSERVICE"'),
});

/** ^ICCID, ^CPIN, ^RESET, ^SYSINFO, ^HCSQ, and settings that change nothing. */
function huaweiCommands(shownIccid: (iccid: string) => string): Behavior {
  return commandFamily('Huawei', {
    '^ICCID': forms({ read: (_, context) => ok(`^ICCID: ${shownIccid(iccidOf(context))}`) }),
    '^CPIN': pinState,
    '^RESET': restart,
    '^SYSINFO': systemInformation,
    '^HCSQ': extendedSignal,
    ...keptCommands({
      '^CURC': { initial: '1', range: '(0,1)' },
      '^U2DIAG': { initial: '0', range: '(0,1,255)' },
      '^PORTSEL': { initial: '0', range: '(0,1)' },
      '^CVOICE': { initial: '0,8000,16,20', range: '(0)' },
      '^DDTMFCFG': { initial: '0', range: '(0,1)' },
    }),
  });
}

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
    behaviors: [huaweiVoiceCommands, huaweiCommands(shownIccid), ussd({ isPacked: true })],
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
    vendorInterface(1, 'ff/ff', 'pcm', 2),
    vendorInterface(2, 'ff/ff', 'at', 2),
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
    vendorInterface(1, '01/03', 'pcm', 2),
    vendorInterface(2, '01/02', 'at', 2),
  ],
  shownIccid: (iccid) => `${iccid}F`,
});
