// Calls of a stick without a name: what every modem has, and voice that comes whenever there is a call.
import { causeText } from '../calls/cause.ts';
import type { MakeVoice } from '../voice/make-voice.ts';

/** 4 URBs of 4096 octets, as the Linux `option` driver has them for each port. */
export const DRIVER_BUFFER_BYTES = 4 * 4096;

export const genericVoice: MakeVoice = {
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
