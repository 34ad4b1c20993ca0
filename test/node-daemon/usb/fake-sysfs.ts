// A folder that looks like /sys as far as USB devices go, made by hand: nothing of the simulator is in it.
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

interface FakeInterface {
  readonly class?: string;
  /** Names of folders below it, such as "ttyUSB2" or "tty/ttyACM0". */
  readonly offers?: readonly string[];
}

/** Devices lie elsewhere and are linked, as the kernel does it. */
export class FakeSysfs {
  readonly root: string;
  #number = 0;

  constructor(t: Test) {
    this.root = temporaryFolder(t);
    mkdirSync(join(this.root, 'bus/usb/devices'), { recursive: true });
  }

  plug(usbPath: string, id: string, interfaces: readonly FakeInterface[], deviceClass = '00'): void {
    const [idVendor = '', idProduct = ''] = id.split(':');
    this.#link(usbPath, { idVendor, idProduct, bDeviceClass: deviceClass, authorized: '1' });
    interfaces.forEach((each, number) => {
      const { offers = [] } = each;
      const attributes = {
        bInterfaceNumber: number.toString(16).padStart(2, '0'),
        bInterfaceClass: each.class ?? 'ff',
      };
      this.#link(`${usbPath}:1.${number}`, attributes, offers);
    });
  }

  unplug(usbPath: string): void {
    for (const name of [usbPath, ...Array.from({ length: 16 }, (_, number) => `${usbPath}:1.${number}`)]) {
      try {
        unlinkSync(join(this.root, 'bus/usb/devices', name));
      } catch {
        // It has no such interface.
      }
    }
  }

  #link(name: string, attributes: Record<string, string>, folders: readonly string[] = []): void {
    this.#number += 1;
    const folder = join(this.root, 'devices', `pci-${this.#number}`, name);
    mkdirSync(folder, { recursive: true });
    for (const [key, value] of Object.entries(attributes)) writeFileSync(join(folder, key), `${value}\n`);
    for (const each of folders) mkdirSync(join(folder, each), { recursive: true });
    symlinkSync(folder, join(this.root, 'bus/usb/devices', name));
  }
}

/** Interfaces of a Quectel modem whose first port is ttyUSB<first>. */
export function quectel(first: number): FakeInterface[] {
  const serial = [0, 1, 2, 3].map((number) => ({ offers: [`ttyUSB${first + number}`, 'power'] }));
  return [...serial, { offers: ['net'] }];
}

export const STORAGE: FakeInterface[] = [{ class: '08', offers: ['host2'] }];
