// The properties of a make of modems, as data. All differences between makes are here, and only here.

import type { UsbId } from '../../usb/usb-device.ts';
import type { MakeVoice } from '../../voice/makes/make-voice.ts';

/** A product in modem mode, and what its interfaces are for. */
export interface UsbProduct extends UsbId {
  /** Numbers of the interfaces that speak AT commands and announce messages, best first. */
  readonly atInterfaces: readonly number[];
  /** The interface with the raw audio of a call. */
  readonly audioInterface?: number;
}

/** How a number becomes dBm, and which values it may have: 3GPP TS 27.007 §8.5 and §8.69, or vendors. */
export type SignalScale =
  /** +CSQ <rssi>: 0 to 31, -113 + 2n. */
  | 'rssi'
  /** +CESQ <rxlev>: 0 to 63, -111 + n. */
  | 'rxlev'
  /** +CESQ <rscp>, ^HCSQ <rssi>: 0 to 96, -121 + n. */
  | 'rscp'
  /** +CESQ <rsrp>: 0 to 97, -141 + n. */
  | 'rsrp'
  /** As it is: negative. */
  | 'dbm';

/** A URC that reports the signal: group 1 is the value. */
interface SignalUrc {
  readonly match: RegExp;
  readonly scale: SignalScale;
}

/** How many tries the PIN has left: group 1 of the pattern. */
export interface PinTriesQuery {
  readonly command: string;
  /** Matches all information responses of the command. */
  readonly answer: RegExp;
  readonly tries: RegExp;
}

/** URCs by what they ask for. A line may match one of them only. */
interface ProfileUrcs {
  /** All settings are back to their defaults. */
  readonly restarted: RegExp;
  /** A modem sends it after a restart, but also without one: the session checks its settings. */
  readonly doubtful?: RegExp;
  /** The SIM came, went or was unlocked. */
  readonly simChanged: RegExp;
  /** A storage is full: messages wait in the network until it is emptied. */
  readonly storeFull: RegExp;
  /** The network or its technology may be another one: operator and signal are asked again. */
  readonly networkChanged?: RegExp;
  /** Known, and ignored. Others are logged once, for developers who add a make. */
  readonly ignorable: RegExp;
  readonly signal: readonly SignalUrc[];
}

/** A make of modems. */
export interface ModemProfile {
  readonly name: string;
  readonly usb: readonly UsbProduct[];
  /** The same devices as they arrive: storage with a driver for Windows, to be switched to modem mode. */
  readonly usbStorage: readonly UsbId[];
  /** Tested against the lines of ATI, joined by blanks. */
  readonly matches: RegExp;
  /** Sent once the SIM is ready, each optional: an error answer is ignored. */
  readonly setUp: readonly string[];
  /** Commands that return the ICCID, best first; the first that answers is used. */
  readonly iccidCommands: readonly string[];
  /** Absent where the modem cannot be asked: then a PIN is entered as long as the journal allows it. */
  readonly pinTries?: PinTriesQuery;
  /** Asked one by one until all have answered, best first: `AT+CREG?` and its likes. */
  readonly registration: readonly RegistrationDomain[];
  /** Values of AT+CNMI, best first (3GPP TS 27.005 §3.4.1). */
  readonly indications: readonly string[];
  /** Where arriving messages may be put, best first. */
  readonly receiving: readonly string[];
  /** The storages of modems that do not answer AT+CPMS=?. */
  readonly storages: string;
  /** Restarts the whole modem. */
  readonly restartCommand: string;
  /** After `restartCommand` the modem is left alone for this long. */
  readonly settleMs: number;
  /** Whether USSD codes are given as hexadecimal of packed septets instead of characters. */
  readonly hasPackedUssd?: boolean;
  readonly urcs: ProfileUrcs;
  readonly voice: MakeVoice;
}

/** +CREG: circuit switched; +CGREG: packet switched; +CEREG: LTE; +C5GREG: 5G. */
export type RegistrationDomain = 'CREG' | 'CGREG' | 'CEREG' | 'C5GREG';
