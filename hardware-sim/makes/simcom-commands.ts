// Commands of SIMCom modems (SIM7500_SIM7600 series AT command manual).

import { ok } from '../at/answer.ts';
import type { ModemSettings } from '../at/settings.ts';
import { commandFamily, forms } from '../behaviours/behaviour.ts';
import { iccidForms } from '../behaviours/iccid.ts';
import { keptCommands } from '../behaviours/kept-settings.ts';
import { isRegistered } from '../equipment/registration.ts';
import { USUAL_BANDWIDTH } from './simcom-voice.ts';

/** AT+AUTOCSQ=1,1: a line whenever the signal has changed. */
export function reportsSignal(settings: ModemSettings): boolean {
  return settings.kept.get('+AUTOCSQ')?.startsWith('1') === true;
}

const pinTries = forms({
  execute: (_, { equipment }) => ok(`+SPIC: ${equipment.sim.tries.pin},${equipment.sim.tries.puk},3,10`),
  test: () => ok(),
});

/** Restarts the module, once OK is out. */
const restart = forms({
  execute: (_, { equipment }) => {
    setImmediate(() => equipment.restart());
    return ok();
  },
  test: () => ok(),
});

const servingCell = forms({
  read: (_, { equipment }) =>
    ok(isRegistered(equipment.registration) ? '+CPSI: LTE,Online,001-01,0x1A2B' : '+CPSI: NO SERVICE,Online'),
  test: () => ok('+CPSI: (0-255)'),
});

/** +CICCID, +SPIC, +CRESET, +CPSI. */
export const simcomCommands = commandFamily('SIMCom', {
  '+CCID': iccidForms('+CCID'),
  '+CICCID': iccidForms('+ICCID'),
  '+SPIC': pinTries,
  '+CRESET': restart,
  '+CPSI': servingCell,
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
