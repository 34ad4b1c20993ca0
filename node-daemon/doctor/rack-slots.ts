// Which slots there are to examine: those of the rack, and devices that it does not use though they are modems.
import { join } from 'node:path';
import { type Clock, sleep } from '#shared/clock.ts';
import { compareNaturally } from '#shared/natural-order.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { ShownSlot } from '../host/shown-slots.ts';
import type { LinkFailure, LinkState } from '../link/control-link.ts';
import type { AtAnswer } from '../operator/procedures/at-answer.ts';
import { isIgnored, isModem, type Place, placeAt, placeOf, VENDORS } from '../slot/place.ts';
import type { UsbDevice } from '../usb/usb-device.ts';

/** The way to the modems: through the daemon that runs, or by opening the rack. */
export interface RackAccess {
  readonly isRunningDaemon: boolean;
  slots(): Promise<ShownSlot[]>;
  at(
    slot: string,
    command: string,
    options: { timeoutMs: number; turnMs: number; unsafe: boolean },
  ): Promise<AtAnswer>;
  /** Link of the daemon; undefined without a daemon. */
  link(): Promise<LinkReport | undefined>;
}

interface LinkReport {
  readonly state: LinkState;
  /** Why there is no link, if the daemon knows it. */
  readonly failure?: LinkFailure | undefined;
}

/** A slot, or a device without one, and where it is. */
export interface FoundSlot {
  readonly name: string;
  readonly slot: ShownSlot | undefined;
  readonly device: UsbDevice | undefined;
  readonly place: Place | undefined;
}

const POLL_MS = 100;
/** A modem in one of these is about to be in another. */
const UNDER_WAY: ReadonlySet<ShownSlot['state']> = new Set(['starting', 'searching']);

/**
 * The slots of a rack once each has a final state, or after `timeoutMs`. `usbPaths`: the places of modems that will be slots. Rejects
 * as the operator API does.
 */
export async function finalSlots(
  rack: RackAccess,
  { usbPaths, timeoutMs, clock }: { usbPaths: readonly string[]; timeoutMs: number; clock: Clock },
): Promise<ShownSlot[]> {
  const deadline = clock.now() + timeoutMs;
  for (;;) {
    const slots = await rack.slots();
    const known = new Set(slots.map((slot) => slot.usb_path));
    const isSettled =
      slots.every(({ state }) => !UNDER_WAY.has(state)) && usbPaths.every((usbPath) => known.has(usbPath));
    if (isSettled || clock.now() >= deadline) return slots;
    await sleep(clock, POLL_MS);
  }
}

/** Devices that are modems, will be once they are switched, or are of a maker of modems; without those that are ignored. */
export function modemDevices(devices: readonly UsbDevice[], { ignore }: NodeConfig): UsbDevice[] {
  return devices.filter(
    (device) => (isModem(device) || VENDORS.has(device.id.vendor)) && !isIgnored(device, ignore),
  );
}

/** Each slot with its place, and the devices that are in no slot, in the natural order of names. `devRoot` is /dev on a real system. */
export function findSlots(
  slots: readonly ShownSlot[],
  { devices, config, devRoot }: { devices: readonly UsbDevice[]; config: NodeConfig; devRoot: string },
): FoundSlot[] {
  const found = slots.map((slot): FoundSlot => {
    const device = devices.find(({ usbPath }) => usbPath === slot.usb_path);
    const place = device === undefined ? namedPlace(slot.slot, config) : placeOf(device, devRoot);
    return { name: slot.slot, slot, device, place };
  });
  const inSlots = new Set(found.map(({ device }) => device));
  const others = modemDevices(devices, config)
    .filter((device) => !inSlots.has(device))
    .map((device): FoundSlot => {
      return { name: device.usbPath, slot: undefined, device, place: placeOf(device, devRoot) };
    });
  return [...found, ...others].sort((one, other) => compareNaturally(one.name, other.name));
}

function namedPlace(name: string, { slots }: NodeConfig): Place | undefined {
  const named = slots.find((slot) => slot.name === name);
  return named !== undefined && 'port' in named ? placeAt(named) : undefined;
}

/** Device files of a sound card, such as "card1": its control, its playback and its capture. */
export function cardPaths(card: string, devRoot: string): string[] {
  const number = card.replace(/^card/, '');
  return [`controlC${number}`, `pcmC${number}D0c`, `pcmC${number}D0p`].map((name) =>
    join(devRoot, 'snd', name),
  );
}
