// What distinguishes the modems of one maker from those of another.
import type { UsbDescription } from '../usb/usb-description.ts';

/** Kinds of modems that the rack can be filled with. */
export const MAKE_NAMES = ['quectel', 'simcom', 'huawei', 'huawei-e303', 'generic'] as const;
/** One of them. */
export type MakeName = (typeof MAKE_NAMES)[number];

/** One kind of modem. */
export interface Make {
  name: MakeName;
  usb: UsbDescription;
  /** What it is as long as it shows its driver disk instead of itself. */
  storage: UsbDescription;
  /** Whether it arrives as that disk when the rack is told to let modems do so. */
  comesAsStorage: boolean;
}
