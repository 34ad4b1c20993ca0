// How slots sit in the rack: hubs with their ports, by USB path; and those that are at no USB port. Pure.
import type { Slot } from '#shared/link/messages.ts';

/** A port of a hub. */
type HubPort =
  | { readonly port: number; readonly kind: 'slot'; readonly slots: readonly Slot[] }
  /** Another hub is in it. */
  | { readonly port: number; readonly kind: 'hub'; readonly path: string }
  | { readonly port: number; readonly kind: 'empty' };

/** A hub, or the root hub of a bus. */
export interface Hub {
  /** As "1-1.4" in /sys/bus/usb/devices; of a root hub "usb1". */
  readonly path: string;
  /** From 1 to the last port that is in use; the hub does not report how many more there are. */
  readonly ports: readonly HubPort[];
}

interface RackLayout {
  readonly hubs: readonly Hub[];
  /** At ports that are no USB devices, and named slots whose modem has not come yet. */
  readonly others: readonly Slot[];
}

/** Ports beyond are left out as empty places: a path may be anything. */
const EMPTY_PORTS_MAX = 32;

const USB_PATH = /^(\d{1,3})-(\d{1,3}(?:\.\d{1,3}){0,6})$/;

/** Where the device of a path sits: "1-1.4" is in port 4 of hub "1-1", "1-2" in port 2 of "usb1". */
function placeOf(path: string): { hub: string; port: number } | undefined {
  const [, bus = '', ports] = USB_PATH.exec(path) ?? [];
  if (ports === undefined) return undefined;
  const steps = ports.split('.');
  const port = Number(steps.pop());
  return { hub: steps.length === 0 ? `usb${bus}` : `${bus}-${steps.join('.')}`, port };
}

/** Hubs in the order of their paths, a hub within another after it. */
export function layOut(slots: readonly Slot[]): RackLayout {
  const hubs = new Map<string, Map<number, Slot[]>>();
  const others: Slot[] = [];
  for (const slot of slots) {
    const place = slot.usb_path === null ? undefined : placeOf(slot.usb_path);
    if (place === undefined) {
      others.push(slot);
      continue;
    }
    const ports = hubs.get(place.hub) ?? new Map<number, Slot[]>();
    hubs.set(place.hub, ports.set(place.port, [...(ports.get(place.port) ?? []), slot]));
  }
  const paths = [...hubs.keys()].sort(byPath);
  return {
    hubs: paths.map((path) => ({ path, ports: portsOf(path, hubs.get(path) ?? new Map(), paths) })),
    others: others.sort((a, b) => byPath(a.slot, b.slot)),
  };
}

function portsOf(path: string, slots: ReadonlyMap<number, Slot[]>, hubs: readonly string[]): HubPort[] {
  const within = new Map<number, string>();
  for (const hub of hubs) {
    const place = placeOf(hub);
    if (place?.hub === path) within.set(place.port, hub);
  }
  const used = [...new Set([...slots.keys(), ...within.keys()])].sort((a, b) => a - b);
  const last = Math.min(used.at(-1) ?? 0, EMPTY_PORTS_MAX);
  const all = new Set([...Array.from({ length: last }, (_, index) => index + 1), ...used]);
  return [...all].map((port): HubPort => {
    const here = slots.get(port);
    if (here !== undefined) return { port, kind: 'slot', slots: here };
    const hub = within.get(port);
    return hub === undefined ? { port, kind: 'empty' } : { port, kind: 'hub', path: hub };
  });
}

/** "usb1" before "1-1", "1-2" before "1-10". */
function byPath(a: string, b: string): number {
  const isRoot = Number(b.startsWith('usb')) - Number(a.startsWith('usb'));
  return isRoot !== 0 ? isRoot : a.localeCompare(b, 'en', { numeric: true });
}
