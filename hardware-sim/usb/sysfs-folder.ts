// Files as sysfs has them: one attribute each, ended by a newline; folders appear whole; writes to `authorized` are noticed.
import {
  type FSWatcher,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
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
export function interfaceAttributes({ number, endpoints, ...triple }: UsbInterface): Attributes {
  return {
    bInterfaceNumber: number.toString(16).padStart(2, '0'),
    bNumEndpoints: endpoints.toString(16).padStart(2, '0'),
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

/** Watches one file. `check` is also called now and then, for what a notice may have missed. */
export class AuthorizedFile {
  readonly #path: string;
  readonly #onWritten: (isAuthorized: boolean) => void;
  readonly #watcher: FSWatcher | undefined;
  #seen: string;

  /** The file must exist, and only other programs write to it. */
  constructor(path: string, onWritten: (isAuthorized: boolean) => void) {
    this.#path = path;
    this.#onWritten = onWritten;
    this.#seen = this.#stamp(contentOf(path));
    this.#watcher = watched(path, () => this.check());
  }

  /** Reads the file if it was written since. An empty one is in the middle of a write: its end comes. */
  check(): void {
    const text = contentOf(this.#path);
    if (text !== '0' && text !== '1') return;
    const stamp = this.#stamp(text);
    if (stamp === this.#seen) return;
    this.#seen = stamp;
    this.#onWritten(text === '1');
  }

  close(): void {
    this.#watcher?.close();
  }

  /** With the text: file systems count time in ticks of some milliseconds, and two writes fit into one. */
  #stamp(text: string): string {
    const stat = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return `${text} ${stat?.ino} ${stat?.mtimeNs}`;
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return '';
  }
}

/** Without a watcher (the system limits their number) only the slow check remains. */
function watched(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, onChange).on('error', () => undefined);
  } catch {
    return undefined;
  }
}
