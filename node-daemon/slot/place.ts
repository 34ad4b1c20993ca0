// The place of a modem: a serial port that the operator named, or the current ports of a USB device.
import { join } from 'node:path';
import type { IgnoredDevice, NamedSlot } from '../config/node-config.ts';
import { findUsbProduct, isStorageMode, PROFILES } from '../profiles/find-profile.ts';
import { isOnlyStorage, isSameUsbId, type UsbDevice, type UsbId } from '../usb/usb-device.ts';

/** The place of a device, and its USB ids. */
export interface UsbPlace {
  readonly path: string;
  readonly id: UsbId;
}

/** A sound card of the device, by its ALSA number, or a serial port. If both exist, the card is used. */
interface AudioPlace {
  readonly port?: string;
  readonly card?: string;
}

/** A place with a device in it. */
export interface Place {
  /** AT ports to try, best first. Empty while the device has none. */
  readonly ports: readonly string[];
  /** The reason why there are no ports. */
  readonly reason?: 'mass_storage' | 'no_port';
  readonly usb?: UsbPlace;
  /** The device for call audio. */
  readonly audio?: AudioPlace;
  /** The device may not be a modem, or may belong to another program. Until it returns an allowed IMEI, the daemon only asks for it. */
  readonly onlyAsk?: true;
}

/** USB classes of interfaces with serial ports: vendor-specific, communications, communications data. */
const SERIAL_CLASSES = new Set(['ff', '02', '0a']);
/** Serial adapters, boards and GPS receivers have only one. */
const MODEM_TTYS_MIN = 2;

/** Makers of modems, by USB id. */
export const VENDORS = new Set(PROFILES.flatMap(({ usb }) => usb.map(({ vendor }) => vendor)));

/** Returns whether the ids are those of a modem, or of a stick that can be switched to one. */
export function isModem(device: UsbDevice): boolean {
  if (findUsbProduct(device.id) !== undefined || isStorageMode(device.id)) return true;
  return VENDORS.has(device.id.vendor) && (isOnlyStorage(device) || ttysOf(device).length > 0);
}

/**
 * Returns whether a device of an unknown make may be a modem, by its serial ports. `isAnyone`: one port is enough, because the
 * configuration names a modem without its place.
 */
export function mayBeModem(device: UsbDevice, isAnyone: boolean): boolean {
  const serial = device.interfaces.filter((each) => each.tty !== undefined && SERIAL_CLASSES.has(each.class));
  return serial.length >= (isAnyone ? 1 : MODEM_TTYS_MIN);
}

/** Returns whether the configuration ignores a device. */
export function isIgnored({ usbPath, id }: UsbDevice, ignore: readonly IgnoredDevice[]): boolean {
  return ignore.some((each) => ('usbPath' in each ? each.usbPath === usbPath : isSameUsbId(each.usbId, id)));
}

/** Returns the place of a slot at a serial port. */
export const placeAt = ({ port, audioPort }: Extract<NamedSlot, { port: string }>): Place => ({
  ports: [port],
  ...(audioPort === undefined ? {} : { audio: { port: audioPort } }),
});

/** Returns the current place of a device. `devRoot` is /dev on a real system. */
export function placeOf(device: UsbDevice, devRoot: string): Place {
  const usb = { path: device.usbPath, id: device.id };
  const isStorage = isStorageMode(device.id) || isOnlyStorage(device);
  if (isStorage) return { ports: [], reason: 'mass_storage', usb };
  const ports = atPortsOf(device).map((tty) => join(devRoot, tty));
  if (ports.length === 0) return { ports, reason: 'no_port', usb };
  const audio = audioOf(device, devRoot);
  return audio === undefined ? { ports, usb } : { ports, usb, audio };
}

function audioOf(device: UsbDevice, devRoot: string): AudioPlace | undefined {
  const number = findUsbProduct(device.id)?.audioInterface;
  const tty = device.interfaces.find((each) => each.number === number)?.tty;
  const { soundCard } = device;
  if (tty === undefined && soundCard === undefined) return undefined;
  return {
    ...(tty === undefined ? {} : { port: join(devRoot, tty) }),
    ...(soundCard === undefined ? {} : { card: soundCard }),
  };
}

/** Returns the names of possible AT ports: the known ones, or otherwise all, in the order of their interfaces. */
function atPortsOf(device: UsbDevice): string[] {
  const product = findUsbProduct(device.id);
  if (product === undefined) return ttysOf(device).map(({ tty }) => tty);
  return product.atInterfaces.flatMap(
    (number) => ttysOf(device).find((each) => each.number === number)?.tty ?? [],
  );
}

function ttysOf({ interfaces }: UsbDevice): { number: number; tty: string }[] {
  return interfaces.flatMap(({ number, tty }) => (tty === undefined ? [] : [{ number, tty }]));
}
