// Reads the USB devices from /sys/bus/usb/devices, repeatedly and with little work.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** More than the devices and interfaces of a host with full buses. */
const ENTRIES_MAX = 4096;
const DEVICE_ATTRIBUTES = ['idVendor', 'idProduct', 'bDeviceClass'];
const INTERFACE_ATTRIBUTES = ['bInterfaceNumber', 'bInterfaceClass'];
/** Hubs, disks, keyboards and mice: their interfaces are ignored. */
const UNINTERESTING_CLASSES = new Set(['09', '08', '03']);
/** Folders of an interface with the names of the devices that its driver creates. */
const OFFERS = ['tty', 'sound'];

/** A device ("1-1.2") or one of its interfaces ("1-1.2:1.3"). */
interface UsbEntry {
  /** Values by file name, without the newline. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Names of the devices that drivers created for an interface: "ttyUSB2", "tty/ttyACM0", "sound/card1". */
  readonly offers: readonly string[];
}

/** Entries by name. */
export type UsbTree = ReadonlyMap<string, UsbEntry>;

interface Known {
  readonly stamp: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Reads the tree. Attributes are read once for each new entry. Only names are read each time.
 *
 * It reads synchronously, without a thread: names and these attributes are in kernel memory, and the reading must work even if all
 * threads hang in the ports of broken devices. It does not read texts of a device, such as `serial`, because these reads wait for a
 * device that is being reset.
 */
export class UsbTreeReader {
  readonly #folder: string;
  #known: ReadonlyMap<string, Known> = new Map();

  /** `sysfsRoot` is /sys on a real system. */
  constructor(sysfsRoot: string) {
    this.#folder = join(sysfsRoot, 'bus/usb/devices');
  }

  /** Throws the system's error if the folder does not exist. */
  read(): UsbTree {
    const names = readdirSync(this.#folder).slice(0, ENTRIES_MAX);
    const known = new Map<string, Known>();
    const tree = new Map<string, UsbEntry>();
    for (const name of names) {
      const entry = this.#entry(name);
      // An entry that disappears while it is read counts as gone.
      if (entry === undefined) continue;
      known.set(name, entry);
      tree.set(name, { attributes: entry.attributes, offers: this.#offers(name, entry) });
    }
    this.#known = known;
    return tree;
  }

  #entry(name: string): Known | undefined {
    try {
      const { ino, ctimeMs } = statSync(join(this.#folder, name));
      const stamp = `${ino} ${ctimeMs}`;
      const known = this.#known.get(name);
      if (known?.stamp === stamp) return known;
      const wanted = name.includes(':') ? INTERFACE_ATTRIBUTES : DEVICE_ATTRIBUTES;
      return {
        stamp,
        attributes: Object.fromEntries(wanted.map((key) => [key, this.#attribute(name, key)])),
      };
    } catch {
      return undefined;
    }
  }

  #attribute(name: string, key: string): string {
    return readFileSync(join(this.#folder, name, key), 'latin1').trim();
  }

  #offers(name: string, { attributes }: Known): string[] {
    const isInterface = name.includes(':');
    if (!isInterface || UNINTERESTING_CLASSES.has(attributes['bInterfaceClass'] ?? '')) return [];
    const children = namesIn(join(this.#folder, name));
    const below = children.filter((child) => OFFERS.includes(child));
    return [
      ...children.filter((child) => child.startsWith('ttyUSB')),
      ...below.flatMap((child) => namesIn(join(this.#folder, name, child)).map((each) => `${child}/${each}`)),
    ];
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
