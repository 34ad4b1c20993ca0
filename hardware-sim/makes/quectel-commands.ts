// Commands of Quectel modems (EC2x & EG9x AT commands manual).

import { CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import { type CommandContext, commandFamily, forms } from '../behaviours/behaviour.ts';
import { iccidForms } from '../behaviours/iccid.ts';
import { keptCommands } from '../behaviours/kept-settings.ts';
import { isRegistered } from '../equipment/registration.ts';
import { indicationSettings } from './quectel-indications.ts';

const URC_PORTS = ['usbat', 'usbmodem', 'all'] as const;
/** AT+QURCCFG="urcport","usbat": which port gets unsolicited lines. */
function unsolicitedPort(command: AtCommand, { equipment }: CommandContext) {
  const [what, where] = command.parameters;
  if (command.operation === 'test') return ok('+QURCCFG: "urcport",("usbat","usbmodem","all")');
  if (what?.text !== 'urcport') return cme(CME.incorrectParameters);
  if (where === undefined) return ok(`+QURCCFG: "urcport","${equipment.settings.urcPort}"`);
  const chosen = URC_PORTS.find((name) => name === where.text);
  if (chosen === undefined) return cme(CME.incorrectParameters);
  equipment.settings.urcPort = chosen;
  return ok();
}

const pinTries = forms({
  read: (_, { equipment }) => {
    const { pin, puk } = equipment.sim.tries;
    return ok(`+QPINC: "SC",${pin},${puk}`, '+QPINC: "P2",3,10');
  },
  test: () => ok('+QPINC: ("SC","P2")'),
});

const signal = forms({
  execute: (_, { equipment }) =>
    ok(isRegistered(equipment.registration) ? '+QCSQ: "LTE",-63,-89,162,-9' : '+QCSQ: "NOSERVICE"'),
  test: () => ok('+QCSQ: "NOSERVICE","GSM","WCDMA","LTE"'),
});

/** +QCCID, +QPINC, +QCSQ, +QURCCFG, +QINDCFG. */
export const quectelCommands = commandFamily('Quectel', {
  '+CCID': iccidForms('+CCID'),
  /** Shows the filler of the card's 20 semi-octets. */
  '+QCCID': iccidForms('+QCCID', (iccid) => `${iccid}F`),
  '+QPINC': pinTries,
  '+QCSQ': signal,
  '+QURCCFG': unsolicitedPort,
  '+QINDCFG': indicationSettings,
  ...keptCommands({
    '^DSCI': { initial: '0', range: '(0,1)' },
    '+QTONEDET': { initial: '0', range: '(0,1)' },
  }),
});
