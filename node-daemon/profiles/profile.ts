// The properties of a make of modems, as data. All differences between makes are in profiles.
import type { UsbId } from '../usb/usb-device.ts';
import type { CallEvent } from './call-event.ts';
import type { NetworkNeeds, VoiceSetting } from './voice-setting.ts';

/** A product in modem mode, and the purpose of its interfaces. */
export interface UsbProduct extends UsbId {
  /** Numbers of the interfaces that speak AT commands and announce messages, best first. */
  readonly atInterfaces: readonly number[];
  /** The interface with the raw audio of a call. */
  readonly audioInterface?: number;
}

/** Scales of signal values and their conversion to dBm: 3GPP TS 27.007 §8.5 and §8.69, or the vendor's. */
export type SignalScale =
  /** +CSQ <rssi>: 0 to 31, -113 + 2n. */
  | 'rssi'
  /** +CESQ <rxlev>: 0 to 63, -111 + n. */
  | 'rxlev'
  /** +CESQ <rscp>, ^HCSQ <rssi>: 0 to 96, -121 + n. */
  | 'rscp'
  /** +CESQ <rsrp>: 0 to 97, -141 + n. */
  | 'rsrp'
  /** The value is in dBm already, and negative. */
  | 'dbm';

/** A URC that reports the signal: group 1 is the value. */
interface SignalUrc {
  readonly match: RegExp;
  readonly scale: SignalScale;
}

/** Reads the remaining attempts of the PIN: group 1 of the pattern. */
export interface PinTriesQuery {
  readonly command: string;
  /** Matches all information responses of the command. */
  readonly answer: RegExp;
  readonly tries: RegExp;
}

/** URCs by their effect. A line may match only one of them. */
interface ProfileUrcs {
  /** The modem restarted: all settings are back to their defaults. */
  readonly restarted: RegExp;
  /** The modem sends it after a restart, but also at other times. The session then checks the settings. */
  readonly doubtful?: RegExp;
  /** The SIM was inserted, removed or unlocked. */
  readonly simChanged: RegExp;
  /** A storage is full, so messages wait in the network. */
  readonly storeFull: RegExp;
  /** The network or its technology may have changed, so the daemon asks for operator and signal again. */
  readonly networkChanged?: RegExp;
  /** Known and ignored. Unknown URCs are logged once, for developers who add a make. */
  readonly ignorable: RegExp;
  readonly signal: readonly SignalUrc[];
}

/** A make of modems. */
export interface ModemProfile {
  readonly name: string;
  readonly usb: readonly UsbProduct[];
  /** The ids of the same devices in mass-storage mode, with a driver for Windows. */
  readonly usbStorage: readonly UsbId[];
  /** Matches the lines of ATI, joined by blanks. */
  readonly matches: RegExp;
  /** Sent when the SIM is ready. Each is optional: errors are ignored. */
  readonly setUp: readonly string[];
  /** Commands that return the ICCID, best first; the first that answers is used. */
  readonly iccidCommands: readonly string[];
  /** Absent if the modem does not report it. Then a PIN is entered as long as the journal allows it. */
  readonly pinTries?: PinTriesQuery;
  /** Registration domains, best first. `AT+CREG?` and its variants are sent one by one. */
  readonly registration: readonly RegistrationDomain[];
  /** Values of AT+CNMI, best first (3GPP TS 27.005 §3.4.1). */
  readonly indications: readonly string[];
  /** Storages for incoming messages, best first. */
  readonly receiving: readonly string[];
  /** The assumed storages of modems that do not answer AT+CPMS=?. */
  readonly storages: string;
  /** Restarts the whole modem. */
  readonly restartCommand: string;
  /** Time for which the modem is left alone after `restartCommand`. */
  readonly settleMs: number;
  /** Whether the modem needs USSD codes as packed septets in hexadecimal, not as characters. */
  readonly hasPackedUssd?: boolean;
  readonly urcs: ProfileUrcs;
  readonly voice: MakeVoice;
  /** The needs of calls, by the name of the carrier. Absent: the daemon knows nothing about this make. */
  readonly networks?: Readonly<Record<string, NetworkNeeds>>;
  /** The settings with which it meets those needs, in the order in which they are changed. */
  readonly voiceSettings?: readonly VoiceSetting[];
}

/** +CREG: circuit switched; +CGREG: packet switched; +CEREG: LTE; +C5GREG: 5G. */
export type RegistrationDomain = 'CREG' | 'CGREG' | 'CEREG' | 'C5GREG';

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
