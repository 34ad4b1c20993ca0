// Commands that clients set and read back, and that change nothing in a simulated modem. A table.
import { CME, cme, ok } from '../at/answer.ts';
import { type CommandHandler, commandFamily, forms } from './behavior.ts';

interface KeptSetting {
  /** Value of a freshly started modem. */
  initial: string;
  /** Answer to the test form, behind the name. */
  range: string;
  /** Text that the read form appends, such as the network's side of a service. */
  suffix?: string;
}

const KEPT_SETTINGS: Readonly<Record<string, KeptSetting>> = {
  '+CLIP': { initial: '0', range: '(0,1)', suffix: ',1' },
  '+CLIR': { initial: '0', range: '(0-2)', suffix: ',4' },
  '+COLP': { initial: '0', range: '(0,1)', suffix: ',1' },
  '+CRC': { initial: '0', range: '(0,1)' },
  '+CSSN': { initial: '0,0', range: '(0,1),(0,1)' },
  '+CTZU': { initial: '0', range: '(0,1)' },
  '+CTZR': { initial: '0', range: '(0,1,2)' },
  '+CMMS': { initial: '0', range: '(0,1,2)' },
  '+CVHU': { initial: '0', range: '(0-2)' },
  '+CMUT': { initial: '0', range: '(0,1)' },
  '+CLVL': { initial: '3', range: '(0-5)' },
  '+VTD': { initial: '0', range: '(0-255)' },
  '+IFC': { initial: '0,0', range: '(0,2),(0,2)' },
  '+IPR': { initial: '115200', range: '(9600,19200,38400,57600,115200,230400,460800,921600)' },
};

function kept(name: string, { initial, range, suffix = '' }: KeptSetting): CommandHandler {
  return forms({
    set: ({ value }, { equipment }) => {
      if (!/^[\w".,:+* -]+$/.test(value)) return cme(CME.incorrectParameters);
      equipment.settings.kept.set(name, value);
      return ok();
    },
    read: (_, { equipment }) => ok(`${name}: ${equipment.settings.kept.get(name) ?? initial}${suffix}`),
    test: () => ok(`${name}: ${range}`),
  });
}

/** One command for each row of a table. */
export function keptCommands(table: Readonly<Record<string, KeptSetting>>): Record<string, CommandHandler> {
  return Object.fromEntries(Object.entries(table).map(([name, setting]) => [name, kept(name, setting)]));
}

/** Those that all makes have. */
export const keptSettings = commandFamily('kept settings', keptCommands(KEPT_SETTINGS));
