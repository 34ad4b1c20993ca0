// Calls of Quectel modems: +QIND: "ccinfo" or ^DSCI, and voice on the NMEA port or the sound card as +QPCMV says.
import type { ModemSettings } from '../at/settings.ts';
import type { CallChange, CallLines, MakeVoice } from '../voice/make-voice.ts';
import { type ShownCall, STAT } from '../voice/modem-call.ts';
import { indicates } from './quectel-indications.ts';

/** Half a second of 8 kHz; the modem asks for a pause well before. */
const BUFFER_BYTES = 8000;
const FULL_BYTES = 6400;
const ROOM_BYTES = 3200;

/** ^DSCI counts states otherwise than +CLCC. */
const DSCI_STATES: Readonly<Record<CallChange, number>> = {
  dialling: 2,
  answered: 3,
  incoming: 4,
  waiting: 5,
  ended: 6,
  alerting: 7,
};

/** As in +CLCC, and -1 for a call that has ended. */
const CCINFO_STATES: Readonly<Record<CallChange, number>> = {
  answered: STAT.active,
  dialling: STAT.dialling,
  alerting: STAT.alerting,
  incoming: STAT.incoming,
  waiting: STAT.waiting,
  ended: -1,
};

const lines: CallLines = (change, { index, direction, number, numberType }: ShownCall, { settings }) => [
  ...(indicates(settings, 'ccinfo')
    ? [`+QIND: "ccinfo",${index},${direction},${CCINFO_STATES[change]},0,0,"${number}",${numberType}`]
    : []),
  ...(settings.kept.get('^DSCI') === '1'
    ? [`^DSCI: ${index},${direction},${DSCI_STATES[change]},0,${number},${numberType}`]
    : []),
];

/** The output port of the GNSS receiver. */
export function nmeaPort({ kept }: ModemSettings): string {
  return kept.get('+QGPSCFG outport') ?? 'usbnmea';
}

export const quectelVoice: MakeVoice = {
  lines,
  connectsBeforeOk: false,
  missedLines: () => [],
  /** Location 5 of the cause, then the cause. */
  endReport: ({ cause }) => `5,${cause}`,
  detectedKey: (digit, { kept }) =>
    kept.get('+QTONEDET')?.startsWith('1') === true ? `+QTONEDET: ${digit.charCodeAt(0)}` : undefined,
  audio: {
    isAlwaysOn: false,
    bufferBytes: BUFFER_BYTES,
    flowControl: {
      fullBytes: FULL_BYTES,
      fullLine: '+QPCMV: 0,0',
      roomBytes: ROOM_BYTES,
      roomLine: '+QPCMV: 1,0',
    },
    rateHz: ({ stored }) => stored.rateHz,
    mixesNmea: (settings) => nmeaPort(settings) !== 'none',
    isLooped: ({ kept }) => kept.get('+QAUDLOOP')?.startsWith('1') === true,
  },
};
