// Calls of any modem that follows 3GPP TS 27.007.
import type { MakeVoice } from './make-voice.ts';

export const GENERIC_VOICE: MakeVoice = {
  setUp: [
    // Caller numbers; calls by kind; no call waiting (§7.6, §6.11, §7.12); call control also by ATH (§6.20).
    'AT+CLIP=1',
    'AT+CRC=1',
    'AT+CCWA=0,0,1',
    'AT+COLP=0',
    'AT+CVHU=0',
  ],
  event: () => undefined,
  // Appendix C.11: one key at a time, quoted or not.
  keyCommand: (digit) => `AT+VTS="${digit}"`,
  reportsKeys: false,
  serial: { on: [], off: [], from: 'dialing', rateHz: 8_000 },
};
