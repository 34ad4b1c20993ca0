// Files as sysfs has them: one attribute each, ended by a newline; folders appear whole.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { UsbInterface } from './usb-description.ts';
import { partsOf } from './usb-path.ts';

/** Attributes of a device by file name, of folders in it too: "power/control". */
export type Attributes = Readonly<Record<string, string>>;

/** Attributes of every device; `deviceClass` is "09" for hubs. */
export function deviceAttributes(
  path: string,
  ids: { vendorId: string; productId: string; manufacturer: string; product: string },
  { serial, deviceClass = '00' }: { serial?: string | undefined; deviceClass?: string } = {},
): Attributes {
  const { busNumber, devicePath } = partsOf(path);
  return {
    idVendor: ids.vendorId,
    idProduct: ids.productId,
    manufacturer: ids.manufacturer,
    product: ids.product,
    // A device that has no serial number has no such file.
    ...(serial === undefined ? {} : { serial }),
    authorized: '1',
    bDeviceClass: deviceClass,
    busnum: busNumber,
    devpath: devicePath,
    // High speed; hubs with a power supply of their own, modems with all that a port gives (USB 2.0 §9.6.3).
    version: ' 2.00',
    speed: '480',
    bConfigurationValue: '1',
    bmAttributes: deviceClass === '09' ? 'e0' : 'a0',
    bMaxPower: deviceClass === '09' ? '100mA' : '500mA',
    // Kernels leave modems awake and put hubs to sleep.
    'power/control': deviceClass === '09' ? 'auto' : 'on',
  };
}

/** Attributes of every interface. */
export function interfaceAttributes({ number, ...triple }: UsbInterface): Attributes {
  return {
    bInterfaceNumber: number.toString(16).padStart(2, '0'),
    bInterfaceClass: triple.class,
    bInterfaceSubClass: triple.subclass,
    bInterfaceProtocol: triple.protocol,
  };
}

/** Makes a folder with its files and, in `children`, folders in it at any depth; who lists the parent sees all of it or nothing. */
export function makeFolder(path: string, attributes: Attributes, children: readonly string[] = []): void {
  const staging = join(dirname(dirname(path)), 'arriving', basename(path));
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  for (const child of children) mkdirSync(join(staging, child), { recursive: true });
  for (const [name, value] of Object.entries(attributes)) {
    mkdirSync(dirname(join(staging, name)), { recursive: true });
    writeFileSync(join(staging, name), `${value}\n`);
  }
  rmSync(path, { recursive: true, force: true });
  renameSync(staging, path);
}

/** Takes a folder away at once, whatever is in it. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
