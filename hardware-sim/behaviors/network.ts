// Registration, operator, signal, time (3GPP TS 27.007 §7 and §8.5).
import { CME, cme, ok } from '../at/answer.ts';
import { NETWORK_OFFSET_QUARTER_HOURS } from '../carrier/numbering.ts';
import type { MobileEquipment } from '../equipment/mobile-equipment.ts';
import { isRoaming, type Registration, registrationText } from '../equipment/registration.ts';
import { encodeTimestamp, timestampToText } from '../pdu/timestamp.ts';
import {
  type CommandContext,
  type CommandHandler,
  commandFamily,
  forms,
  numberParameter,
} from './behavior.ts';
import { quoted } from './terminal-text.ts';

/** By the format of +COPS=3,<format>: long name, short name, number. */
const homeNames = ({ homeNetwork }: MobileEquipment) => ['Simrack Mobile', 'Simrack', homeNetwork] as const;
/** The names of the foreign network, for roaming. */
const FOREIGN_NAMES = ['Abroad Mobile', 'Abroad', '00102'] as const;
/** <AcT> of +COPS: E-UTRAN. */
const ACCESS_TECHNOLOGY = 7;

function registrationReport(name: '+CREG' | '+CGREG' | '+CEREG', domain: keyof Registration): CommandHandler {
  return forms({
    set: (command, { equipment }) => {
      equipment.settings.registrationReports[name] = numberParameter(command, 0, { min: 0, max: 3 });
      return ok();
    },
    read: (_, { equipment }) => {
      const n = equipment.settings.registrationReports[name];
      return ok(
        `${name}: ${n},${registrationText(equipment.registration[domain], n, equipment.radio.rejectCause)}`,
      );
    },
    test: () => ok(`${name}: (0-3)`),
  });
}

const operator = forms({
  set: (command, { equipment, port }) => {
    const mode = numberParameter(command, 0, { min: 0, max: 4 });
    const format = numberParameter(command, 1, { min: 0, max: 2, fallback: port.operatorFormat });
    if (mode === 3) {
      port.operatorFormat = format as 0 | 1 | 2;
      return ok();
    }
    if (mode === 1 && !(homeNames(equipment) as readonly string[]).includes(command.parameters[2] ?? '')) {
      return cme(CME.incorrectParameters);
    }
    equipment.settings.operatorMode = mode;
    equipment.onConditionsChanged();
    return ok();
  },
  read: (_, { equipment, port }) => {
    const { operatorMode } = equipment.settings;
    if (!equipment.radio.isRegistered) return ok(`+COPS: ${operatorMode}`);
    const { operatorFormat } = port;
    const names = isRoaming(equipment.registration) ? FOREIGN_NAMES : homeNames(equipment);
    // The number stays in digits whatever the character set: clients read it as such.
    const name = operatorFormat === 2 ? `"${names[2]}"` : quoted(names[operatorFormat], port);
    return ok(`+COPS: ${operatorMode},${operatorFormat},${name},${ACCESS_TECHNOLOGY}`);
  },
  test: (_, { equipment, port }) => {
    const [long, short, number] = homeNames(equipment);
    const names = `${quoted(long, port)},${quoted(short, port)},"${number}"`;
    return ok(`+COPS: (2,${names},${ACCESS_TECHNOLOGY}),,(0,1,2,3,4),(0,1,2)`);
  },
});

function hasSignal({ equipment }: CommandContext): boolean {
  return equipment.radio.isRegistered;
}

const signalQuality = forms({
  execute: (_, { equipment }) => ok(`+CSQ: ${equipment.radio.rssi},99`),
  test: () => ok('+CSQ: (0-31,99),(0-7,99)'),
});

const extendedSignalQuality = forms({
  execute: (_, context) =>
    ok(hasSignal(context) ? '+CESQ: 99,99,255,255,22,52' : '+CESQ: 99,99,255,255,255,255'),
  test: () => ok('+CESQ: (0-63,99),(0-7,99),(0-96,255),(0-49,255),(0-34,255),(0-97,255)'),
});

/** The network's time, as the carrier stamps messages. */
const clock = forms({
  read: (_, { equipment }) =>
    ok(`+CCLK: "${timestampToText(encodeTimestamp(equipment.now(), NETWORK_OFFSET_QUARTER_HOURS))}"`),
  set: () => ok(),
});

const packetAttach = forms({
  read: (_, context) => ok(`+CGATT: ${hasSignal(context) ? 1 : 0}`),
  set: () => ok(),
  test: () => ok('+CGATT: (0,1)'),
});

/** Registration, operator, signal, time. */
export const network = commandFamily('network', {
  '+CREG': registrationReport('+CREG', 'circuitSwitched'),
  '+CGREG': registrationReport('+CGREG', 'packetSwitched'),
  '+CEREG': registrationReport('+CEREG', 'evolved'),
  '+COPS': operator,
  '+CSQ': signalQuality,
  '+CESQ': extendedSignalQuality,
  '+CCLK': clock,
  '+CGATT': packetAttach,
});
