// The calls of one make: the lines about them, how their voice reaches the host, and the settings that it keeps without power.
import type { ModemSettings } from '../at/settings.ts';
import type { SampleRateHz } from '../audio/frame.ts';
import type { CallEnd } from '../calls/call-leg.ts';
import { causeText } from '../calls/cause.ts';
import type { ShownCall } from './modem-call.ts';

/** Events of a call. */
export type CallChange = 'dialling' | 'alerting' | 'incoming' | 'waiting' | 'answered' | 'ended';

/** Lines of a change; `end` comes with `ended`. */
export type CallLines = (
  change: CallChange,
  call: ShownCall,
  context: { settings: ModemSettings; end?: CallEnd },
) => readonly string[];

/** One make's calls. */
export interface MakeVoice {
  /** In front of final result codes such as BUSY. */
  lines: CallLines;
  /** `answered` comes before the OK of ATA. */
  connectsBeforeOk: boolean;
  /** After the NO CARRIER of a missed call; the time is the network's. */
  missedLines: (call: ShownCall, atMs: number) => readonly string[];
  /** Text of +CEER after the colon. */
  endReport: (end: CallEnd) => string;
  /** The line about a key that the other side pressed, if key detection is on. */
  detectedKey: (digit: string, settings: ModemSettings) => string | undefined;
  audio: MakeAudio;
}

/** One make's voice on its serial port. */
export interface MakeAudio {
  /** Whether samples come in every call, or only when a command has said so. */
  isAlwaysOn: boolean;
  /** Octets from the host that wait to be played; what does not fit is dropped. */
  bufferBytes: number;
  /** Lines to the host when the buffer has filled to one mark, and when it has emptied to the other. */
  flowControl?: { fullBytes: number; fullLine: string; roomBytes: number; roomLine: string };
  rateHz: (context: {
    settings: ModemSettings;
    stored: StoredVoiceSettings;
    isVolte: boolean;
  }) => SampleRateHz;
  /** Whether the GNSS receiver writes its sentences to the voice port when it is on. */
  mixesNmea: (settings: ModemSettings) => boolean;
  /** Whether the modem loops the voice port back while there is no call. */
  isLooped?: (settings: ModemSettings) => boolean;
}

/** 4 URBs of 4096 octets, as the Linux `option` driver has them for each port. */
const DRIVER_BUFFER_BYTES = 4 * 4096;

/** A make without lines of its own, whose samples come in every call. */
export const USUAL_VOICE: MakeVoice = {
  lines: () => [],
  connectsBeforeOk: false,
  missedLines: () => [],
  endReport: ({ cause }) => causeText(cause),
  detectedKey: () => undefined,
  audio: {
    isAlwaysOn: true,
    bufferBytes: DRIVER_BUFFER_BYTES,
    rateHz: () => 8000,
    mixesNmea: () => true,
  },
};

/** Kept as long as the simulator runs. */
export interface StoredVoiceSettings {
  /** It has a sound card on the bus, from its next start on. */
  usbAudio: boolean;
  /** Sample rate from its next start on. */
  nextRateHz: SampleRateHz;
  /** In use since its last start. */
  rateHz: SampleRateHz;
}
