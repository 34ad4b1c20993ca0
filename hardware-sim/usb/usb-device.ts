// One device on the simulated bus: its folder, and those of its interfaces while it is configured.
import { join } from 'node:path';
import {
  type Attributes,
  AuthorizedFile,
  deviceAttributes,
  interfaceAttributes,
  makeFolder,
  removeFolder,
} from './sysfs-folder.ts';
import type { UsbDescription } from './usb-description.ts';

/** A sound card as sysfs shows it. */
interface CardName {
  number: number;
  id: string;
}

interface UsbDeviceOptions {
  /** Its folder; those of the interfaces are beside it. */
  folder: string;
  path: string;
  description: UsbDescription;
  serial: string | undefined;
  onAuthorized: (isAuthorized: boolean) => void;
  onLeft: () => void;
}

/** Present from its construction until `leave`. */
export class UsbDevice {
  readonly path: string;
  readonly description: UsbDescription;
  readonly #options: UsbDeviceOptions;
  readonly #authorized: AuthorizedFile;

  constructor(options: UsbDeviceOptions) {
    const { folder, path, description, serial } = options;
    this.path = path;
    this.description = description;
    this.#options = options;
    makeFolder(folder, deviceAttributes(path, description, { serial }));
    this.#authorized = new AuthorizedFile(join(folder, 'authorized'), options.onAuthorized);
  }

  /** Interfaces appear; `ttys` gives those that are terminals their names, by interface number. */
  showInterfaces(ttys: ReadonlyMap<number, string>, card?: CardName): void {
    for (const usbInterface of this.description.interfaces) {
      const tty = ttys.get(usbInterface.number);
      const sound = usbInterface.isSound === true && card !== undefined ? soundFolder(card) : NOTHING;
      makeFolder(
        this.#folderOf(usbInterface.number),
        { ...interfaceAttributes(usbInterface), ...sound.attributes },
        [...(tty === undefined ? [] : [tty]), ...sound.children],
      );
    }
  }

  hideInterfaces(): void {
    for (const { number } of this.description.interfaces) removeFolder(this.#folderOf(number));
  }

  /** Checks for a write to `authorized`. */
  checkAuthorized(): void {
    this.#authorized.check();
  }

  /** Idempotent. */
  leave(): void {
    this.#authorized.close();
    this.hideInterfaces();
    removeFolder(this.#options.folder);
    this.#options.onLeft();
  }

  #folderOf(interfaceNumber: number): string {
    return `${this.#options.folder}:1.${interfaceNumber}`;
  }
}

const NOTHING: { attributes: Attributes; children: string[] } = { attributes: {}, children: [] };

/** `sound/card0` with its devices for capture and playback. */
function soundFolder({ number, id }: CardName): typeof NOTHING {
  const folder = `sound/card${number}`;
  return {
    attributes: { [`${folder}/id`]: id, [`${folder}/number`]: String(number) },
    children: [`${folder}/pcmC${number}D0c`, `${folder}/pcmC${number}D0p`],
  };
}
