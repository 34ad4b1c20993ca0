// The USB side of the rack as folders: sys/bus/usb/devices with hubs and devices, and dev for the terminals; device numbers.
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, every, type Timer } from '#shared/clock.ts';
import { deviceAttributes, interfaceAttributes, makeFolder } from './sysfs-folder.ts';
import { type UsbControllerName, writeController } from './usb-controller.ts';
import type { UsbDescription } from './usb-description.ts';
import { UsbDevice } from './usb-device.ts';
import { hubsAbove } from './usb-path.ts';

/** Interval of checks for writes to `authorized` that inotify did not report. */
const AUTHORIZED_CHECK_MS = 2000;
/** Says that the folder is ours to remove. */
const MARK = 'simulated-by-hardware-sim';

const ROOT_HUB = {
  vendorId: '1d6b',
  productId: '0002',
  manufacturer: 'Linux xhci-hcd',
  product: 'xHCI Host Controller',
};
const HUB = { vendorId: '05e3', productId: '0610', manufacturer: 'GenesysLogic', product: 'USB2.1 Hub' };
const HUB_INTERFACE = { number: 0, class: '09', subclass: '00', protocol: '01', endpoints: 1 };

/** A place on the bus, or the folder of the bus, is not free. */
export class UsbError extends Error {
  override name = 'UsbError';
}

export class UsbBus {
  readonly ttyNumbers = new DeviceNumbers();
  /** Folder of the links to the terminals. */
  readonly devFolder: string;
  readonly #sysFolder: string;
  readonly #devicesFolder: string;
  readonly #clock: Clock;
  readonly #controller: UsbControllerName;
  readonly #devices = new Map<string, UsbDevice>();
  #check: Timer | undefined;

  /** `clock` is real time, since other programs write to the files at any time. Each bus has a controller of this kind. */
  constructor(rackFolder: string, clock: Clock, controller: UsbControllerName) {
    this.#controller = controller;
    this.devFolder = join(rackFolder, 'dev');
    this.#sysFolder = join(rackFolder, 'sys');
    this.#devicesFolder = join(this.#sysFolder, 'bus/usb/devices');
    this.#clock = clock;
  }

  /**
   * Makes the folders, and replaces those of an earlier run that was killed. Throws `UsbError` for a folder that
   * is not a simulator's.
   */
  open(): void {
    for (const folder of [this.#sysFolder, this.devFolder]) {
      if (existsSync(folder) && !existsSync(join(folder, MARK))) {
        throw new UsbError(`${folder} exists and was not made by a simulator`);
      }
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, MARK), '');
    }
    mkdirSync(this.#devicesFolder, { recursive: true });
    this.#check = every(this.#clock, AUTHORIZED_CHECK_MS, () => {
      for (const device of [...this.#devices.values()]) device.checkAuthorized();
    });
  }

  /** Idempotent; devices that are still there go with it. */
  close(): void {
    if (this.#check === undefined) return;
    this.#check.cancel();
    this.#check = undefined;
    for (const device of [...this.#devices.values()]) device.leave();
    for (const folder of [this.#sysFolder, this.devFolder]) rmSync(folder, { recursive: true, force: true });
  }

  isTaken(path: string): boolean {
    return this.#devices.has(path);
  }

  /**
   * Adds a device without interfaces, and the hubs above it. Calls `onAuthorized` for a write to its `authorized`
   * file. Throws `UsbError` when the place is taken.
   */
  arrive(
    path: string,
    { description, serial }: { description: UsbDescription; serial: string | undefined },
    onAuthorized: (isAuthorized: boolean) => void,
  ): UsbDevice {
    if (this.isTaken(path)) throw new UsbError(`there is a device at ${path} already`);
    this.#makeHubs(path);
    const device = new UsbDevice({
      folder: join(this.#devicesFolder, path),
      description,
      serial,
      path,
      onAuthorized,
      onLeft: () => this.#devices.delete(path),
    });
    this.#devices.set(path, device);
    return device;
  }

  #makeHubs(path: string): void {
    const root = `usb${path.split('-')[0]}`;
    this.#makeHub(root, deviceAttributes(path.replace(/-.*/, '-0'), ROOT_HUB, { deviceClass: '09' }));
    for (const hub of hubsAbove(path)) this.#makeHub(hub, deviceAttributes(hub, HUB, { deviceClass: '09' }));
  }

  /** The folder of a root hub is in that of its controller, and there is a link to it beside the devices. */
  #makeHub(name: string, attributes: Readonly<Record<string, string>>): void {
    const folder = join(this.#devicesFolder, name);
    if (existsSync(folder)) return;
    if (name.startsWith('usb')) {
      const controller = writeController(this.#sysFolder, this.#controller, Number(name.slice('usb'.length)));
      makeFolder(join(controller, name), attributes);
      symlinkSync(join(controller, name), folder);
    } else makeFolder(folder, attributes);
    const interfaceName = name.startsWith('usb') ? `${name.slice(3)}-0:1.0` : `${name}:1.0`;
    makeFolder(join(this.#devicesFolder, interfaceName), interfaceAttributes(HUB_INTERFACE));
  }
}

/** Numbers in use. */
export class DeviceNumbers {
  readonly #taken = new Set<number>();

  /** Lowest free numbers, ascending; not always in a row. */
  take(count: number): number[] {
    const numbers: number[] = [];
    for (let number = 0; numbers.length < count; number++) {
      if (this.#taken.has(number)) continue;
      this.#taken.add(number);
      numbers.push(number);
    }
    return numbers;
  }

  release(numbers: readonly number[]): void {
    for (const number of numbers) this.#taken.delete(number);
  }
}
