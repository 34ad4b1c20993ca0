// How a make of modems reports calls and gives their audio, as data.
import type { CallEvent } from '../state/call-event.ts';

/** Audio on a serial port: S16LE frames of 20 ms, each way, as long as it is switched on. */
export interface SerialAudio {
  /** Commands that switch it on and off. */
  readonly on: readonly string[];
  readonly off: readonly string[];
  /** When `on` is accepted: at any time, or once the call is answered. */
  readonly from: 'dialing' | 'answer';
  /** A query whether it is on, and the form of its answer then. */
  readonly confirm?: { readonly command: string; readonly isOn: RegExp };
  /** Samples a second; `measured`: 8,000 or 16,000, which only the number of octets a second shows. */
  readonly rateHz: 8_000 | 16_000 | 'measured';
}

/** Audio of a sound card that is part of the device. */
export interface CardAudio {
  readonly on: readonly string[];
  readonly off: readonly string[];
  readonly rateHz: 8_000 | 16_000;
}

export interface MakeVoice {
  /** Sent once the SIM is ready, each optional. */
  readonly setUp: readonly string[];
  /** Reads a line that only this make has. */
  readonly event: (line: string) => CallEvent | undefined;
  /** Presses one key during a call. */
  readonly keyCommand: (digit: string) => string;
  /** Whether the modem reports the keys of the far end; otherwise they are detected in the audio. */
  readonly reportsKeys: boolean;
  readonly serial: SerialAudio;
  /** Where the device has a sound card, it is used. */
  readonly card?: CardAudio;
}
