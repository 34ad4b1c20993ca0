// Basic commands and those about the port and the modem as a whole (ITU-T V.250 §6, 3GPP TS 27.007 §8).
import { CME, cme, ok } from '../at/answer.ts';
import { defaultPortSettings, type PortSettings } from '../at/settings.ts';
import { type CommandHandler, commandFamily, forms, numberParameter } from './behavior.ts';

const CHARACTER_SETS = ['GSM', 'IRA', 'UCS2'] as const;

/** ATE, ATV, ATQ: 0 or 1, and nothing means 0. */
function flag(name: 'echo' | 'verbose' | 'quiet'): CommandHandler {
  return ({ value }, { port }) => {
    if (!/^[01]?$/.test(value)) return { kind: 'error' };
    port[name] = value === '1';
    return ok();
  };
}

/** An S parameter that holds a character's code (V.250 §6.2.1 to §6.2.3). */
function characterCode(name: 'carriageReturn' | 'lineFeed' | 'backspace'): CommandHandler {
  return ({ operation, value }, { port }) => {
    if (operation === 'read') return ok(String(port[name]).padStart(3, '0'));
    if (operation !== 'set' || !/^\d{1,3}$/.test(value) || Number(value) > 127) return { kind: 'error' };
    port[name] = Number(value);
    return ok();
  };
}

/** Accepted and without effect, as long as the value is one digit or none. */
const accepted: CommandHandler = ({ value }) => (/^\d?$/.test(value) ? ok() : { kind: 'error' });

/** ATZ and AT&F leave the choice of memories alone, as Quectel modems do. */
const restoreDefaults: CommandHandler = ({ value }, { port }) => {
  if (!/^0?$/.test(value)) return { kind: 'error' };
  const { readMemory, writeMemory } = port;
  Object.assign(port, { ...defaultPortSettings(), readMemory, writeMemory } satisfies PortSettings);
  return ok();
};

const errorReporting = forms({
  set: (command, { port }) => {
    port.errorReporting = numberParameter(command, 0, { min: 0, max: 2 });
    return ok();
  },
  read: (_, { port }) => ok(`+CMEE: ${port.errorReporting}`),
  test: () => ok('+CMEE: (0,1,2)'),
});

const characterSet = forms({
  set: (command, { port }) => {
    const chosen = CHARACTER_SETS.find((name) => name === command.parameters[0]?.toUpperCase());
    if (chosen === undefined) return cme(CME.incorrectParameters);
    port.characterSet = chosen;
    return ok();
  },
  read: (_, { port }) => ok(`+CSCS: "${port.characterSet}"`),
  test: () => ok(`+CSCS: (${CHARACTER_SETS.map((name) => `"${name}"`).join(',')})`),
});

/** A make's own command that restarts the modem, once OK is out. */
export const restart = forms({
  execute: (_, { equipment }) => {
    setImmediate(() => equipment.restart());
    return ok();
  },
});

/** AT+CFUN=1,1 restarts the modem, once OK is out. */
const functionality = forms({
  set: (command, { equipment }) => {
    const level = numberParameter(command, 0, { min: 0, max: 4 });
    const restarts = numberParameter(command, 1, { min: 0, max: 1, fallback: 0 }) === 1;
    if (![0, 1, 4].includes(level)) return cme(CME.incorrectParameters);
    if (restarts) {
      setImmediate(() => equipment.restart());
      return ok();
    }
    equipment.setFunctionality(level);
    return ok();
  },
  read: (_, { equipment }) => ok(`+CFUN: ${equipment.settings.functionality}`),
  test: () => ok('+CFUN: (0,1,4),(0,1)'),
});

/** Basic commands, error reporting, character set, power. */
export const general = commandFamily('general', {
  E: flag('echo'),
  V: flag('verbose'),
  Q: flag('quiet'),
  X: accepted,
  L: accepted,
  M: accepted,
  '&C': accepted,
  '&D': accepted,
  '&S': accepted,
  '&K': accepted,
  '&W': accepted,
  S0: forms({ read: () => ok('000'), set: () => ok() }),
  S3: characterCode('carriageReturn'),
  S4: characterCode('lineFeed'),
  S5: characterCode('backspace'),
  S7: forms({ read: () => ok('060'), set: () => ok() }),
  Z: restoreDefaults,
  '&F': restoreDefaults,
  '+CMEE': errorReporting,
  '+CSCS': characterSet,
  '+CFUN': functionality,
  '+GCAP': forms({ execute: () => ok('+GCAP: +CGSM') }),
  '+CBC': forms({ execute: () => ok('+CBC: 0,100,4100'), test: () => ok('+CBC: (0-2),(1-100),(voltage)') }),
});
