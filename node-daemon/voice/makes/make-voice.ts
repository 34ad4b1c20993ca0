// How a make of modems reports calls and transports their audio, as data.
import type { CallEvent } from '../state/call-event.ts';

/** Audio on a serial port: S16LE frames of 20 ms in both directions while it is on. */
export interface SerialAudio {
  /** Commands that turn it on and off. */
  readonly on: readonly string[];
  readonly off: readonly string[];
  /** When the modem accepts `on`: at any time, or only after the call is answered. */
  readonly from: 'dialing' | 'answer';
  /** A query of its state, and the form of the answer while it is on. */
  readonly confirm?: { readonly command: string; readonly isOn: RegExp };
  /** Samples per second; `measured`: 8,000 or 16,000, measured by the number of octets per second. */
  readonly rateHz: 8_000 | 16_000 | 'measured';
}

/** Audio of a sound card that is part of the device. */
export interface CardAudio {
  readonly on: readonly string[];
  readonly off: readonly string[];
  readonly rateHz: 8_000 | 16_000;
}

export interface MakeVoice {
  /** Sent when the SIM is ready. Each is optional. */
  readonly setUp: readonly string[];
  /** Reads a line that only this make sends. */
  readonly event: (line: string) => CallEvent | undefined;
  /** Returns the command that presses one key during a call. */
  readonly keyCommand: (digit: string) => string;
  /** Whether the modem reports the keys of the far end. Otherwise they are detected in the audio. */
  readonly reportsKeys: boolean;
  readonly serial: SerialAudio;
  /** Audio of the sound card, which is used if the device has one. */
  readonly card?: CardAudio;
}
