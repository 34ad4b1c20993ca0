// The configuration of a node: an operator's choices beyond the options of the command line.
import { DEFAULT_DESTINATIONS, type Destinations } from '#shared/destination-list.ts';
import type { LogLevel } from '#shared/process/logger.ts';
import type { UsbId } from '../usb/usb-device.ts';
import { NO_SIM_SETTINGS, type SimSettings } from './sim-settings.ts';

/** All slots go into one frame of the link: this many with the longest names fit. */
export const SLOTS_MAX = 128;
export const SLOT_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A slot that the operator named: by the modem in it, by the USB place, or by a serial port. */
export type NamedSlot = { readonly name: string } & (
  | { readonly imei: string }
  | { readonly usbPath: string }
  /** `audioPort`: where a modem of an unknown make has the audio of its calls. */
  | { readonly port: string; readonly audioPort?: string | undefined }
);

/** A device that is left alone. */
export type IgnoredDevice = { readonly usbPath: string } | { readonly usbId: UsbId };

/** How many messages may go in each window; without a number, or with 0, there is no limit. */
export interface SendRate {
  readonly perMinute?: number | undefined;
  readonly perHour?: number | undefined;
  readonly perDay?: number | undefined;
}

/** The operator's limits: for each SIM, and for each recipient over all SIMs of the node. */
export interface SendLimitSettings {
  readonly perSim: SendRate;
  readonly perDestination: SendRate;
}

/** The steps that are allowed for a modem that does not recover by itself. */
export interface RecoverySettings {
  readonly usbReset: 'authorized' | 'uhubctl' | 'off';
  /** A program and its arguments, with places to fill in; see `fillIn`. */
  readonly powerCycle?: readonly string[] | undefined;
  /** How often an hour each step may be taken on one modem. */
  readonly perHour: {
    readonly radio: number;
    readonly restart: number;
    readonly usbReset: number;
    readonly powerCycle: number;
  };
}

/** The configuration of one node. `undefined` means that the file does not set the value. */
export interface NodeConfig {
  readonly dataDir: string | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly slots: readonly NamedSlot[];
  /** Whether modems are used that no slot names. */
  readonly discover: boolean | undefined;
  readonly ignore: readonly IgnoredDevice[];
  readonly sims: SimSettings;
  readonly sendLimits: SendLimitSettings;
  /** Where may be texted and called. */
  readonly destinations: Destinations;
  readonly recovery: RecoverySettings;
  /** A program and its arguments that turn a stick from its disk into a modem. */
  readonly modeSwitch: readonly string[] | undefined;
  readonly metricsPort: number | undefined;
  /** Where the operator's tools find the daemon; else in its data folder. */
  readonly operatorSocket: string | undefined;
  /** How long calls that are up may go on after a signal to stop; 0: not at all. */
  readonly drainMs: number;
}

/** The values that apply where no file sets others: every modem found over USB is used. */
export const DEFAULT_CONFIG: NodeConfig = {
  dataDir: undefined,
  logLevel: undefined,
  slots: [],
  discover: undefined,
  ignore: [],
  sims: NO_SIM_SETTINGS,
  sendLimits: { perSim: {}, perDestination: {} },
  destinations: DEFAULT_DESTINATIONS,
  recovery: {
    usbReset: 'authorized',
    powerCycle: undefined,
    perHour: { radio: 6, restart: 4, usbReset: 3, powerCycle: 2 },
  },
  modeSwitch: undefined,
  metricsPort: undefined,
  operatorSocket: undefined,
  drainMs: 120_000,
};
