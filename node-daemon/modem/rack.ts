// All modems of the host: those at configured ports, and those that appear and disappear over USB.
import type { Slot } from '#shared/link/slot.ts';
import type { Logger } from '#shared/log.ts';
import { compareNaturally } from '#shared/natural-order.ts';
import { type IgnoredDevice, type NamedSlot, SLOTS_MAX } from '../config/node-config.ts';
import { isIgnored, isModem, mayBeModem, type Place, placeAt, placeOf } from '../slot/place.ts';
import { SlotNames } from '../slot/slot-names.ts';
import type { UsbDevice } from '../usb/usb-device.ts';
import type { Modem } from './modem.ts';
import { DUPLICATE_ICCID, DUPLICATE_IMEI } from './sim/claims.ts';

/** Makes the supervisor of one modem, without starting it. */
type CreateModem = (options: {
  readonly slot: string;
  readonly place: Place;
  readonly admits: (imei: string) => boolean;
}) => Modem;

/** The configuration of the slots. */
export interface RackSettings {
  readonly slots: readonly NamedSlot[];
  /** Whether to use modems that no slot names. */
  readonly discover: boolean;
  readonly ignore: readonly IgnoredDevice[];
}

/** The configured slots, and the parts that make modems. */
export interface RackParts extends RackSettings {
  /** /dev on a real system. */
  readonly devRoot: string;
  readonly createModem: CreateModem;
  readonly log: Logger;
}

/** The modems of one host. */
export class Rack {
  readonly #parts: RackParts;
  #settings: RackSettings;
  #names: SlotNames;
  /** By the path of their port. */
  readonly #atPorts = new Map<string, { slot: PortSlot; modem: Modem }>();
  /** Modems by USB path. They stay after their device has disappeared. */
  readonly #atUsb = new Map<string, Modem>();
  /** USB paths of modems that still close their ports. */
  readonly #stopping = new Set<string>();
  /** Unused devices, as "<path> <id>: <why>". Each is logged once. */
  #leftAlone: ReadonlySet<string> = new Set();
  #devices: readonly UsbDevice[] = [];
  #started = false;
  #stopped = false;

  constructor(parts: RackParts) {
    this.#parts = parts;
    this.#settings = parts;
    this.#names = new SlotNames(parts.slots);
    for (const slot of parts.slots) if ('port' in slot) this.#addAtPort(slot);
  }

  /** Whether the configuration allows any USB device. */
  get wantsUsb(): boolean {
    return this.#settings.discover || this.#names.areOfUsb;
  }

  start(): void {
    this.#started = true;
    for (const modem of this.#modems()) modem.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#modems().map((modem) => modem.stop()));
  }

  /** Updates the modems from the current USB devices. */
  devicesChanged(devices: readonly UsbDevice[]): void {
    if (this.#stopped) return;
    this.#devices = devices;
    const wanted = devices.filter((device) => this.#whyNot(device) === undefined);
    this.#logUnused(devices);
    const paths = new Set(wanted.map(({ usbPath }) => usbPath));
    for (const [usbPath, modem] of this.#atUsb) if (!paths.has(usbPath)) modem.move(undefined);
    for (const device of wanted) this.#place(device);
  }

  /**
   * Changes the slots. Modems that stay keep their session; others are stopped, as by `Modem.stop`. Resolves when these have closed their
   * ports and the new slots are in use. One call at a time.
   */
  async reconfigure(settings: RackSettings): Promise<void> {
    this.#settings = settings;
    this.#names = new SlotNames(settings.slots);
    const atPorts = settings.slots.filter((slot) => 'port' in slot);
    await Promise.all([...this.#withoutOldPorts(atPorts), ...this.#withoutOldDevices()]);
    if (this.#stopped) return;
    for (const slot of atPorts) {
      if (this.#atPorts.has(slot.port)) continue;
      const modem = this.#addAtPort(slot);
      if (this.#started) modem.start();
    }
    this.devicesChanged(this.#devices);
    this.rename();
  }

  /** Call it when the values of SIM cards have changed. */
  simsChanged(): void {
    for (const modem of this.#modems()) modem.simsChanged();
  }

  /** Stops the modems at ports that have no slot any more. */
  #withoutOldPorts(slots: readonly PortSlot[]): Promise<void>[] {
    const wanted = new Map(slots.map((slot) => [slot.port, slot]));
    return [...this.#atPorts].flatMap(([port, { modem, slot }]) => {
      const next = wanted.get(port);
      if (next !== undefined && next.audioPort === slot.audioPort) {
        modem.name = next.name;
        return [];
      }
      this.#atPorts.delete(port);
      return [modem.stop()];
    });
  }

  /** Stops the modems that may not be used any more, and those that were refused and may be used now. */
  #withoutOldDevices(): Promise<void>[] {
    const present = new Map(this.#devices.map((device) => [device.usbPath, device]));
    return [...this.#atUsb].flatMap(([usbPath, modem]) => {
      const device = present.get(usbPath);
      const { device_id: imei } = modem.slot;
      const isWanted = device === undefined || this.#whyNot(device) === undefined;
      if (isWanted && !modem.isRefused && (imei === null || this.#admits(imei, usbPath))) return [];
      this.#atUsb.delete(usbPath);
      this.#stopping.add(usbPath);
      return [modem.stop().finally(() => this.#stopping.delete(usbPath))];
    });
  }

  #addAtPort(slot: PortSlot): Modem {
    const modem = this.#parts.createModem({ slot: slot.name, place: placeAt(slot), admits: () => true });
    this.#atPorts.set(slot.port, { slot, modem });
    return modem;
  }

  #admits(imei: string, usbPath: string): boolean {
    return this.#settings.discover || this.#names.nameOf({ imei, usbPath }) !== undefined;
  }

  /** Gives each modem its slot name. Call it when a device, an IMEI or the configuration has changed. */
  rename(): void {
    const modems = [...this.#atUsb].map(([usbPath, modem]) => {
      const wanted = this.#names.nameOf({ imei: modem.slot.device_id, usbPath });
      return { modem, usbPath, wanted, other: this.#names.defaultName(usbPath) };
    });
    const atPorts = [...this.#atPorts.values()].map(({ modem }) => modem);
    const taken = new Set(atPorts.filter(isPresent).map(({ name }) => name));
    // Modems that keep their name come first, so that a name that is given up is free for another one, and absent ones come last.
    const rankOf = ({ modem, wanted, other }: (typeof modems)[number]): number =>
      isPresent(modem) ? Number(modem.name !== (wanted ?? other)) : 2;
    for (const { modem, usbPath, wanted, other } of modems.sort((one, two) => rankOf(one) - rankOf(two))) {
      const isTaken = wanted !== undefined && taken.has(wanted);
      const name = wanted === undefined || isTaken ? other : wanted;
      if (isPresent(modem)) taken.add(name);
      if (name === modem.name) continue;
      if (isTaken && isPresent(modem))
        this.#parts.log.warn({ slot: wanted, usbPath }, 'another modem already has this slot');
      modem.name = name;
    }
  }

  /** All slots, in the natural order of their names. A SIM that was moved is only in its new slot, even if the old slot's modem did not notice the removal. */
  slots(): Slot[] {
    const shown = this.#shown();
    const present = new Set(shown.filter(isPresent).map(({ slot }) => slot.iccid));
    const slots = shown.map((modem) => {
      const { slot } = modem;
      const moved = !isPresent(modem) && slot.iccid !== null && present.has(slot.iccid);
      return moved ? { ...slot, iccid: null, number: null } : slot;
    });
    const names = new Set(slots.map(({ slot }) => slot));
    const paths = new Set(slots.map((slot) => slot.usb_path));
    const empty = this.#names.all
      .filter((name) => !names.has(name))
      .map((name): Slot => {
        const path = this.#names.pathOf(name);
        return { ...emptySlot(name), usb_path: paths.has(path) ? null : path };
      });
    return [...slots, ...empty]
      .slice(0, SLOTS_MAX)
      .sort((one, other) => compareNaturally(one.slot, other.slot));
  }

  /** Returns the modem with this SIM. A modem that answers comes before a lost one. */
  find(iccid: string): Modem | undefined {
    const holders = this.#shown().filter(({ slot }) => slot.iccid === iccid);
    return holders.find(isPresent) ?? holders[0];
  }

  /** Returns the modem in the slot with this name. */
  inSlot(name: string): Modem | undefined {
    const named = this.#shown().filter((modem) => modem.name === name);
    return named.find(isPresent) ?? named[0];
  }

  /** Returns whether a modem is in this state, including modems without a slot yet. */
  hasModemIn(state: Slot['state']): boolean {
    return this.#modems().some(
      ({ slot, isUnidentified, isRefused }) => slot.state === state && !isUnidentified && !isRefused,
    );
  }

  /** The supervisors of all modems by their first names, and their step counts. */
  progress(): { name: string; steps: number | undefined }[] {
    return this.#modems().map(({ id, steps }) => ({ name: id, steps }));
  }

  /** Problems for the operator. */
  alarms(): string[] {
    const modems = this.#shown();
    const alarms = [];
    if (!modems.some((modem) => modem.isPlugged)) alarms.push('no_modem');
    if (modems.some((modem) => modem.isGivenUp)) alarms.push('modem_given_up');
    if (modems.some(({ slot }) => slot.reason === DUPLICATE_ICCID)) alarms.push(DUPLICATE_ICCID);
    const imeis = modems.filter(isPresent).flatMap(({ slot }) => slot.device_id ?? []);
    if (new Set(imeis).size < imeis.length) alarms.push(DUPLICATE_IMEI);
    return alarms;
  }

  #modems(): Modem[] {
    return [...[...this.#atPorts.values()].map(({ modem }) => modem), ...this.#atUsb.values()];
  }

  /** Leaves out modems that are not used, not known yet, or now at another place. */
  #shown(): Modem[] {
    const modems = this.#modems().filter((modem) => !modem.isRefused && !modem.isUnidentified);
    const elsewhere = new Set(modems.filter(isPresent).map(({ slot }) => slot.device_id));
    return modems.filter((modem) => {
      const { device_id: imei, usb_path: usbPath, state } = modem.slot;
      if (usbPath === null) return true;
      if (imei === null && state === 'starting') return this.#names.nameOf({ imei, usbPath }) !== undefined;
      return isPresent(modem) || imei === null || !elsewhere.has(imei);
    });
  }

  /** Returns why a device is not used; `undefined` if it is, or may be, a modem to use. */
  #whyNot(device: UsbDevice): string | undefined {
    const { discover, ignore } = this.#settings;
    if (isIgnored(device, ignore)) return 'the configuration ignores it';
    if (this.#isNamed(device)) return undefined;
    if (!discover && !this.#names.hasImeis) return 'discover is off, and no slot names its place';
    if (isModem(device) || mayBeModem(device, this.#names.hasImeis)) return undefined;
    return 'probably not a modem: an unknown make with fewer than two serial ports';
  }

  #isNamed({ usbPath }: UsbDevice): boolean {
    return this.#names.nameOf({ imei: null, usbPath }) !== undefined;
  }

  /** Returns whether the device is used whatever it answers. The daemon also recovers such a device when it does not answer. */
  #isCertain(device: UsbDevice): boolean {
    return this.#isNamed(device) || (this.#settings.discover && isModem(device));
  }

  #logUnused(devices: readonly UsbDevice[]): void {
    const before = this.#leftAlone;
    const now = new Set<string>();
    for (const device of devices) {
      const reason = this.#whyNot(device);
      const isOfInterest = isModem(device) || device.interfaces.some(({ tty }) => tty !== undefined);
      if (reason === undefined || !isOfInterest) continue;
      const { usbPath, id } = device;
      const usbId = `${id.vendor}:${id.product}`;
      now.add(`${usbPath} ${usbId}: ${reason}`);
      if (before.has(`${usbPath} ${usbId}: ${reason}`)) continue;
      this.#parts.log.info({ usbPath, usbId, reason }, 'USB device not used');
    }
    this.#leftAlone = now;
  }

  #place(device: UsbDevice): void {
    const { createModem, devRoot, log } = this.#parts;
    const { usbPath } = device;
    // Two modems must not use one port: `reconfigure` places the device when the old modem has stopped.
    if (this.#stopping.has(usbPath)) return;
    const place = this.#isCertain(device)
      ? placeOf(device, devRoot)
      : { ...placeOf(device, devRoot), onlyAsk: true as const };
    const known = this.#atUsb.get(usbPath);
    if (known !== undefined) {
      known.move(place);
      return;
    }
    if (this.#modems().length >= SLOTS_MAX && !this.#forgetOne()) {
      log.error({ usbPath }, `modem not used: the daemon already has ${SLOTS_MAX}`);
      return;
    }
    const slot = this.#names.nameOf({ imei: null, usbPath }) ?? this.#names.defaultName(usbPath);
    const admits = (imei: string): boolean => this.#admits(imei, usbPath);
    const modem = createModem({ slot, place, admits });
    this.#atUsb.set(usbPath, modem);
    log.info(
      { usbPath, usbId: `${device.id.vendor}:${device.id.product}` },
      place.onlyAsk ? 'asking a USB device whether it is a modem' : 'modem plugged in',
    );
    if (this.#started) modem.start();
  }

  /** Removes a modem that has disappeared from a place without a name, to make room. */
  #forgetOne(): boolean {
    for (const [usbPath, modem] of this.#atUsb) {
      if (modem.isPlugged || this.#names.nameOf({ imei: null, usbPath }) !== undefined) continue;
      this.#atUsb.delete(usbPath);
      void modem.stop();
      return true;
    }
    return false;
  }
}

type PortSlot = Extract<NamedSlot, { port: string }>;

/** States in which the SIM was seen recently, unlike in a lost modem. */
function isPresent({ slot }: Modem): boolean {
  return slot.state !== 'lost';
}

/** Returns a slot whose modem has not appeared yet. */
function emptySlot(name: string): Slot {
  return {
    slot: name,
    state: 'lost',
    reason: 'absent',
    device_id: null,
    iccid: null,
    number: null,
    operator: null,
    signal_dbm: null,
    model: null,
    usb_path: null,
    storage: null,
    swept_at: null,
  };
}
