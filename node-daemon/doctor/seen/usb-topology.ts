// Reads the whole USB tree as it is plugged together: controllers, hubs and devices, with what each claims.
import { readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import { compareNaturally } from '#shared/natural-order.ts';
import { attributeAt, isSelfPowered, numberOf } from './usb-sysfs.ts';

/** More than the devices and interfaces of a host with full buses. */
const ENTRIES_MAX = 4096;
const ROOT_HUB = /^usb\d+$/;
const DEVICE = /^(\d+)-\d+(\.\d+)*$/;
const INTERFACE = /^(\d+-\d+(?:\.\d+)*):\d+\.\d+$/;

/** A device or a hub. `undefined` stands for a value that the kernel does not report. */
export interface UsbNode {
  /** "1-1.2", or "usb1" for a root hub. */
  readonly path: string;
  readonly bus: string;
  /** Vendor and product, four hexadecimal digits each. */
  readonly id: string;
  /** False: the kernel did not turn it on, so its interfaces and endpoints are unknown. */
  readonly isConfigured: boolean;
  /** Endpoints of all interfaces in their current setting, without endpoint 0. */
  readonly endpoints: number;
  readonly maxPowerMa: number | undefined;
  readonly isSelfPowered: boolean | undefined;
  readonly speedMbps: number | undefined;
}

/** A host controller with its buses: one for USB 2 and, if it is an xHCI, one for USB 3. */
export interface UsbController {
  /** Its name in sysfs, such as the PCI address "0000:00:14.0". */
  readonly name: string;
  /** "8086:a36d"; `undefined` if it is no PCI device. */
  readonly pciId: string | undefined;
  /** Name of its driver: "xhci_hcd", "ehci-pci", "dwc2". */
  readonly driver: string | undefined;
  readonly buses: readonly string[];
}

export interface UsbTopology {
  readonly controllers: readonly UsbController[];
  /** In the order of their paths. */
  readonly nodes: readonly UsbNode[];
}

/** Reads what exists. Never rejects; without a tree it is empty. */
export async function readUsbTopology(sysfsRoot: string, clock: Clock): Promise<UsbTopology> {
  const devices = join(sysfsRoot, 'bus/usb/devices');
  const names = (await readdir(devices).catch(() => [])).slice(0, ENTRIES_MAX).sort(compareNaturally);
  const read: Read = (path) => attributeAt(join(devices, path), clock);
  const endpoints = new Map<string, number>();
  const countEndpoints = async (name: string, device: string): Promise<void> => {
    const count = Number.parseInt((await read(`${name}/bNumEndpoints`)) ?? '', 16) || 0;
    endpoints.set(device, (endpoints.get(device) ?? 0) + count);
  };
  await Promise.all(
    names.flatMap((name) => {
      const device = INTERFACE.exec(name)?.[1];
      return device === undefined ? [] : [countEndpoints(name, device)];
    }),
  );
  const nodes = await Promise.all(
    names
      .filter((name) => ROOT_HUB.test(name) || DEVICE.test(name))
      .map((name) => readNode(name, endpoints.get(name) ?? 0, read)),
  );
  return { nodes, controllers: await readControllers(names, devices, clock) };
}

type Read = (path: string) => Promise<string | undefined>;

async function readNode(path: string, endpoints: number, read: Read): Promise<UsbNode> {
  const [vendor, product, configuration, power, flags, speed] = await Promise.all(
    ['idVendor', 'idProduct', 'bConfigurationValue', 'bMaxPower', 'bmAttributes', 'speed'].map((name) =>
      read(`${path}/${name}`),
    ),
  );
  return {
    path,
    endpoints,
    bus: path.startsWith('usb') ? path.slice('usb'.length) : (DEVICE.exec(path)?.[1] ?? ''),
    id: `${vendor ?? '?'}:${product ?? '?'}`,
    // The attribute is empty while the device is not configured.
    isConfigured: configuration !== '' && configuration !== '0',
    maxPowerMa: numberOf(power),
    isSelfPowered: isSelfPowered(flags),
    speedMbps: numberOf(speed),
  };
}

/** The folder of a root hub is in that of its controller. */
async function readControllers(
  names: readonly string[],
  devices: string,
  clock: Clock,
): Promise<UsbController[]> {
  const buses = new Map<string, string[]>();
  for (const name of names.filter((each) => ROOT_HUB.test(each))) {
    const folder = await realpath(join(devices, name)).catch(() => join(devices, name));
    // A tree without controllers: each bus counts as one.
    const parent = dirname(folder) === devices ? folder : dirname(folder);
    buses.set(parent, [...(buses.get(parent) ?? []), name.slice('usb'.length)]);
  }
  return Promise.all(
    [...buses].map(async ([folder, ofFolder]) => {
      const [vendor, device] = await Promise.all(
        ['vendor', 'device'].map((name) => attributeAt(join(folder, name), clock)),
      );
      const driver = await readlink(join(folder, 'driver')).catch(() => undefined);
      return {
        name: basename(folder),
        buses: ofFolder,
        driver: driver === undefined ? undefined : basename(driver),
        pciId: vendor === undefined || device === undefined ? undefined : `${hex(vendor)}:${hex(device)}`,
      };
    }),
  );
}

const hex = (value: string): string => value.replace(/^0x/, '').toLowerCase();
