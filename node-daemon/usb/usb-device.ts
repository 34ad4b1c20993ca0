// Makes devices with their serial ports from entries of the USB tree. Pure.
import { compareNaturally } from '#shared/natural-order.ts';
import type { UsbTree } from './usb-tree.ts';

/** A USB product, four lower-case hexadecimal digits each. */
export interface UsbId {
  readonly vendor: string;
  readonly product: string;
}

export const isSameUsbId = (one: UsbId, other: UsbId | undefined): boolean =>
  one.vendor === other?.vendor && one.product === other.product;

/** One interface of a device. */
interface UsbInterface {
  /** `bInterfaceNumber`, from 0. */
  readonly number: number;
  /** USB class, two hexadecimal digits: "ff" vendor-specific, "08" mass storage. */
  readonly class: string;
  /** Name of its serial port, such as "ttyUSB2". It may change each time the device appears. */
  readonly tty?: string;
}

/** A plugged-in device. */
export interface UsbDevice {
  /** Bus and ports, such as "1-1.2". It stays the same as long as the device stays at the same port. */
  readonly usbPath: string;
  readonly id: UsbId;
  /** Interfaces in the order of their numbers. */
  readonly interfaces: readonly UsbInterface[];
  /** ALSA name of its sound card, such as "card1". */
  readonly soundCard?: string;
}

const DEVICE = /^\d+-\d+(\.\d+)*$/;
const INTERFACE = /^(\d+-\d+(?:\.\d+)*):\d+\.\d+$/;
const HUB_CLASS = '09';
const STORAGE_CLASS = '08';

/** Returns all devices except hubs, in the order of their places. */
export function usbDevices(tree: UsbTree): UsbDevice[] {
  const interfaces = new Map<string, UsbInterface[]>();
  const soundCards = new Map<string, string>();
  for (const [name, { attributes, offers }] of tree) {
    const usbPath = INTERFACE.exec(name)?.[1];
    if (usbPath === undefined) continue;
    const tty = offerOf(offers, /^(?:tty\/)?(tty(?:USB|ACM)\d+)$/);
    const soundCard = offerOf(offers, /^sound\/(card\d+)$/);
    const number = Number.parseInt(attributes['bInterfaceNumber'] ?? '', 16);
    const each = {
      number,
      class: attributes['bInterfaceClass'] ?? '',
      ...(tty === undefined ? {} : { tty }),
    };
    interfaces.set(usbPath, [...(interfaces.get(usbPath) ?? []), each]);
    if (soundCard !== undefined) soundCards.set(usbPath, soundCard);
  }
  return [...tree]
    .filter(([name, { attributes }]) => DEVICE.test(name) && attributes['bDeviceClass'] !== HUB_CLASS)
    .map(([usbPath, { attributes }]) => {
      const soundCard = soundCards.get(usbPath);
      return {
        usbPath,
        id: { vendor: attributes['idVendor'] ?? '', product: attributes['idProduct'] ?? '' },
        interfaces: (interfaces.get(usbPath) ?? []).sort((one, other) => one.number - other.number),
        ...(soundCard === undefined ? {} : { soundCard }),
      };
    })
    .sort((one, other) => compareNaturally(one.usbPath, other.usbPath));
}

/** Returns whether the device currently is only a disk. */
export function isOnlyStorage({ interfaces }: UsbDevice): boolean {
  return interfaces.length > 0 && interfaces.every((each) => each.class === STORAGE_CLASS);
}

function offerOf(offers: readonly string[], pattern: RegExp): string | undefined {
  return offers.map((offer) => pattern.exec(offer)?.[1]).find((name) => name !== undefined);
}
