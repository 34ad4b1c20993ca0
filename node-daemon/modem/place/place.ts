// The place where a modem can be reached: a serial port that the operator named, or the ports that a USB device offers now.
import { join } from 'node:path';
import type { UsbId } from '../../usb/usb-device.ts';
import { isOnlyStorage, type UsbDevice } from '../../usb/usb-device.ts';
import { findUsbProduct, isStorageMode, PROFILES } from '../profiles/find-profile.ts';

/** The place of a device, and its USB ids. */
export interface UsbPlace {
  readonly path: string;
  readonly id: UsbId;
}

/** A sound card of the device, by its number in ALSA, or a serial port; the card is used where both are there. */
interface AudioPlace {
  readonly port?: string;
  readonly card?: string;
}

/** A place with a device in it. */
export interface Place {
  /** AT ports to try, best first; none while the device offers none. */
  readonly ports: readonly string[];
  /** Why there are no ports. */
  readonly reason?: 'mass_storage' | 'no_port';
  readonly usb?: UsbPlace;
  /** Where the audio of calls is. */
  readonly audio?: AudioPlace;
  /** It may be something else, or another program's: it is only asked, until it gives an IMEI that may be used. */
  readonly onlyAsk?: true;
}

/** Vendor-specific; communications; their data. Modems have their serial ports there. */
const SERIAL_CLASSES = new Set(['ff', '02', '0a']);
/** Serial adapters, boards and receivers of GPS have one. */
const MODEM_TTYS_MIN = 2;

const VENDORS = new Set(PROFILES.flatMap(({ usb }) => usb.map(({ vendor }) => vendor)));

/** Whether the device is a modem, or will be one once it is switched: known by its ids. */
export function isModem(device: UsbDevice): boolean {
  if (findUsbProduct(device.id) !== undefined || isStorageMode(device.id)) return true;
  return VENDORS.has(device.id.vendor) && (isOnlyStorage(device) || ttysOf(device).length > 0);
}

/**
 * Whether a device of an unknown make may be a modem, by its serial ports. `isAnyone`: one port is enough, because the configuration says
 * that there is a modem, but not where.
 */
export function mayBeModem(device: UsbDevice, isAnyone: boolean): boolean {
  const serial = device.interfaces.filter((each) => each.tty !== undefined && SERIAL_CLASSES.has(each.class));
  return serial.length >= (isAnyone ? 1 : MODEM_TTYS_MIN);
}

/** The place of a device, as it is now. `devRoot` is /dev on a real system. */
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

/** Names of the ports that may speak AT: those that are known to, else all, in order of their interfaces. */
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
