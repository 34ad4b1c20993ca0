// What distinguishes the modems of one maker from those of another.
import type { Behaviour } from '../modem/behaviour.ts';
import type { Memory, ModemSettings } from '../modem/settings.ts';
import type { UsbDescription } from '../usb/usb-description.ts';
import type { MakeVoice } from './make-voice.ts';

/** Kinds of modems that the rack can be filled with. */
export const MAKE_NAMES = ['quectel', 'simcom', 'huawei', 'huawei-e303', 'generic'] as const;
/** One of them. */
export type MakeName = (typeof MAKE_NAMES)[number];

/** One kind of modem. */
export interface Make {
  name: MakeName;
  usb: UsbDescription;
  /** The same with a sound card; `undefined` for those that cannot have one. */
  usbWithSound?: UsbDescription;
  /** What it is as long as it shows its driver disk instead of itself. */
  storage: UsbDescription;
  /** Whether it arrives as that disk when the rack is told to let modems do so. */
  comesAsStorage: boolean;
  /** +CGMI, +CGMM, +CGMR. */
  manufacturer: string;
  model: string;
  revision: string;
  /** In front of the revision in the answer to +CGMR. */
  revisionPrefix: string;
  /** ATI. */
  information: (imei: string) => readonly string[];
  lines: MakeLines;
  voice: MakeVoice;
  /** Its own commands; they come before the common ones. */
  behaviours: readonly Behaviour[];
}

/** Unsolicited lines. */
export interface MakeLines {
  /** As soon as it speaks after a start. */
  started: readonly string[];
  /** When the card can be used, and when it is found missing or locked. */
  cardReady: readonly string[];
  /** When messages can be sent and read. */
  messagingReady: readonly string[];
  cardRemoved: readonly string[];
  cardInserted: readonly string[];
  /** Nothing when the make says nothing, or was told not to. */
  storeFull: (memory: Memory, settings: ModemSettings) => readonly string[];
  signal: (rssi: number, settings: ModemSettings) => readonly string[];
}
