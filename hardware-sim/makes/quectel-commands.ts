// Commands of Quectel modems (EC2x & EG9x AT commands manual), and which unsolicited lines they send: AT+QINDCFG.
import { CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { ModemSettings } from '../at/settings.ts';
import { type CommandContext, commandFamily, forms } from '../behaviors/behavior.ts';
import { keptCommands } from '../behaviors/kept-settings.ts';
import { iccidForms } from '../behaviors/sim-card.ts';
import { isRegistered } from '../equipment/registration.ts';
import { carrierProfiles } from './quectel-network.ts';

const INDICATIONS = ['csq', 'smsfull', 'ring', 'smsincoming', 'act', 'ccinfo'];

const keyOf = (indication: string): string => `+QINDCFG ${indication}`;

/** Whether AT+QINDCFG has switched an indication on. */
export function indicates(settings: ModemSettings, indication: string): boolean {
  const own = settings.kept.get(keyOf(indication)) ?? '0';
  return own === '1' && settings.kept.get(keyOf('all')) !== '0';
}

/** AT+QINDCFG="csq",1: which unsolicited lines come. */
function indicationSettings(command: AtCommand, { equipment: { settings } }: CommandContext) {
  const names = INDICATIONS.map((name) => `"${name}"`).join(',');
  if (command.operation === 'test') return ok(`+QINDCFG: ("all",${names}),(0,1),(0,1)`);
  const [name, value] = command.parameters;
  if (name === undefined || !['all', ...INDICATIONS].includes(name)) return cme(CME.incorrectParameters);
  if (value === undefined) {
    return ok(`+QINDCFG: "${name}",${settings.kept.get(keyOf(name)) ?? '0'}`);
  }
  if (!/^[01]$/.test(value)) return cme(CME.incorrectParameters);
  settings.kept.set(keyOf(name), value);
  return ok();
}

const URC_PORTS = ['usbat', 'usbmodem', 'all'] as const;
/** AT+QURCCFG="urcport","usbat": which port gets unsolicited lines. */
function unsolicitedPort(command: AtCommand, { equipment }: CommandContext) {
  const [what, where] = command.parameters;
  if (command.operation === 'test') return ok('+QURCCFG: "urcport",("usbat","usbmodem","all")');
  if (what !== 'urcport') return cme(CME.incorrectParameters);
  if (where === undefined) return ok(`+QURCCFG: "urcport","${equipment.settings.urcPort}"`);
  const chosen = URC_PORTS.find((name) => name === where);
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

/** +QCCID, +QPINC, +QCSQ, +QURCCFG, +QINDCFG, +QMBNCFG. */
export const quectelCommands = commandFamily('Quectel', {
  '+CCID': iccidForms('+CCID'),
  /** Shows the filler of the card's 20 semi-octets. */
  '+QCCID': iccidForms('+QCCID', (iccid) => `${iccid}F`),
  '+QPINC': pinTries,
  '+QCSQ': signal,
  '+QURCCFG': unsolicitedPort,
  '+QINDCFG': indicationSettings,
  '+QMBNCFG': carrierProfiles,
  ...keptCommands({
    '^DSCI': { initial: '0', range: '(0,1)' },
    '+QTONEDET': { initial: '0', range: '(0,1)' },
  }),
});
