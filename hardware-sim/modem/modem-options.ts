// The options of a modem: its identity, its traits, and the rack around it.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { SoundCards } from '../alsa/sound-cards.ts';
import type { Behavior } from '../behaviors/behavior.ts';
import type { Carrier } from '../carrier/carrier.ts';
import type { ModemIdentity } from '../equipment/identity.ts';
import type { EquipmentTraits } from '../equipment/mobile-equipment.ts';
import type { Make } from '../makes/make.ts';
import type { Publish } from '../state/event-feed.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import type { UsbBus } from '../usb/usb-bus.ts';
import type { VoiceNetwork } from '../voice/voice.ts';

/** How a modem behaves when nothing is wrong with it. */
export interface ModemTraits extends EquipmentTraits {
  /** How long it shows its driver disk whenever it arrives, if its make does so. */
  storageFirstMs: number;
  /** From a restart until its device is back. */
  bootMs: number;
}

export interface ModemOptions extends VoiceNetwork {
  identity: ModemIdentity;
  make: Make;
  traits: ModemTraits;
  bus: UsbBus;
  soundCards: SoundCards;
  /** Where on the bus, and the serial number that it shows there. */
  usbPath: string;
  usbSerial: string | undefined;
  /** Folder of the links that are named after the slot. */
  linkFolder: string;
  journal: RackJournal;
  carrier: Carrier;
  clock: Clock;
  /** For the terminals: they need real time whatever `clock` is. */
  portClock: Clock;
  log: Logger;
  publish: Publish;
  /** Tried in order, behind those of the make; `define` puts new ones first. */
  behaviors: readonly Behavior[];
  /** Whether another modem uses a name for its links. */
  isNameTaken: (name: string) => boolean;
}
