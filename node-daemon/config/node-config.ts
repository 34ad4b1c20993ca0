// The configuration of a node, beyond the options of the command line.
import { DEFAULT_DESTINATIONS, type Destinations } from '#shared/destination-list.ts';
import type { LogLevel } from '#shared/log.ts';
import type { UsbId } from '../usb/usb-device.ts';

/** One SIM card, as configured. */
interface SimSetting {
  /** 4 to 8 digits. Never logged. */
  readonly pin?: string | undefined;
  /** E.164. Many cards do not contain their own number. */
  readonly number?: string | undefined;
}

/** Returns the configured values of SIM cards. */
export interface SimSettings {
  /**
   * Returns the PIN of a card, or the common PIN for a card without its own. A card with an unreadable ICCID may have a PIN of its
   * own, so it gets the common PIN only if no card has one.
   */
  pinOf(iccid: string | undefined): string | undefined;
  /** Returns the card's number, E.164. */
  numberOf(iccid: string): string | undefined;
}

/** `pin` is for cards without their own in `sims`, whose keys are ICCIDs. */
export function simSettings(sims: Readonly<Record<string, SimSetting>>, pin?: string): SimSettings {
  const known = new Map(Object.entries(sims));
  const nameless = Object.values(sims).some((sim) => sim.pin !== undefined) ? undefined : pin;
  return {
    pinOf: (iccid) => (iccid === undefined ? nameless : (known.get(iccid)?.pin ?? pin)),
    numberOf: (iccid) => known.get(iccid)?.number,
  };
}

/** The operator's settings for one network: each value overrides what the daemon knows. */
interface CarrierSetting {
  /** Whether the daemon may change settings of modems. */
  readonly applies?: boolean | undefined;
  readonly carrierProfile?: string | undefined;
  readonly ims?: boolean | undefined;
  readonly imsApn?: string | undefined;
}

/** The configuration of modems for calls on the networks of their cards. */
export interface CarrierSettings {
  readonly applies: boolean;
  /** By code, MCC and MNC. */
  readonly networks: ReadonlyMap<string, CarrierSetting>;
}

export const DEFAULT_CARRIER_SETTINGS: CarrierSettings = { applies: true, networks: new Map() };

/** No configured values. */
export const NO_SIM_SETTINGS: SimSettings = simSettings({});

/** One frame of the link contains all slots. This many fit, even with the longest names. */
export const SLOTS_MAX = 128;
export const SLOT_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A slot that the operator named, identified by its modem, its USB port or its serial port. */
export type NamedSlot = { readonly name: string } & (
  | { readonly imei: string }
  | { readonly usbPath: string }
  /** `audioPort`: the port for call audio of a modem of an unknown make. */
  | { readonly port: string; readonly audioPort?: string | undefined }
);

/** A device that the daemon must not use. */
export type IgnoredDevice = { readonly usbPath: string } | { readonly usbId: UsbId };

/** Maximum number of messages in each window. Absent or 0: no limit. */
export interface SendRate {
  readonly perMinute?: number | undefined;
  readonly perHour?: number | undefined;
  readonly perDay?: number | undefined;
}

/** The operator's limits for each SIM, and for each recipient over all SIMs of the node. */
export interface SendLimitSettings {
  readonly perSim: SendRate;
  readonly perDestination: SendRate;
}

/** The allowed steps to recover a modem. */
export interface RecoverySettings {
  readonly usbReset: 'authorized' | 'uhubctl' | 'off';
  /** A program and its arguments, with placeholders; see `fillIn`. */
  readonly powerCycle?: readonly string[] | undefined;
  /** Maximum number of each step in an hour, for each modem. */
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
  /** Whether to use modems that no slot names. */
  readonly discover: boolean | undefined;
  readonly ignore: readonly IgnoredDevice[];
  readonly sims: SimSettings;
  readonly carriers: CarrierSettings;
  readonly sendLimits: SendLimitSettings;
  /** Allowed destinations of texts and calls. */
  readonly destinations: Destinations;
  readonly recovery: RecoverySettings;
  /** A program and its arguments that switch a stick from its disk to its modem. */
  readonly modeSwitch: readonly string[] | undefined;
  readonly metricsPort: number | undefined;
  /** Path of the socket for the operator's tools. Absent: in the data folder. */
  readonly operatorSocket: string | undefined;
  /** Time for calls in progress to end after a signal to stop. 0: none. */
  readonly drainMs: number;
}

/** The defaults: use every modem that is found over USB. */
export const DEFAULT_CONFIG: NodeConfig = {
  dataDir: undefined,
  logLevel: undefined,
  slots: [],
  discover: undefined,
  ignore: [],
  sims: NO_SIM_SETTINGS,
  carriers: DEFAULT_CARRIER_SETTINGS,
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
