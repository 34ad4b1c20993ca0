// A model of modem, apart from its commands: identification, USB, unsolicited lines, calls.
import type { Memory, ModemSettings } from '../at/settings.ts';
import type { UsbDescription } from '../usb/usb-description.ts';
import type { MakeVoice } from '../voice/make-voice.ts';

export interface ModemModel {
  usb: UsbDescription;
  /** The same with a sound card; `undefined` for a model that cannot have one. */
  usbWithSound?: UsbDescription;
  /** Its USB device while it shows its driver disk instead of the modem. */
  storage: UsbDescription;
  /** Whether it arrives as that disk if the rack has `storageFirstMs`. */
  comesAsStorage: boolean;
  /** +CGMI, +CGMM, +CGMR. */
  manufacturer: string;
  model: string;
  revision: string;
  /** In front of the revision in the answer to +CGMR. */
  revisionPrefix: string;
  /** ATI. */
  information: (imei: string) => readonly string[];
  lines: ModelLines;
  voice: MakeVoice;
}

/** Unsolicited result codes of a model. */
export interface ModelLines {
  /** As soon as its ports answer after a start. */
  started: readonly string[];
  /** When the card can be used. */
  cardReady: readonly string[];
  /** When messages can be sent and read. */
  messagingReady: readonly string[];
  cardRemoved: readonly string[];
  cardInserted: readonly string[];
  /** Empty if the model has no such line, or if the settings switch it off. */
  storeFull: (memory: Memory, settings: ModemSettings) => readonly string[];
  signal: (rssi: number, settings: ModemSettings) => readonly string[];
}
