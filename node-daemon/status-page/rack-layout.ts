// Computes the layout of the rack: hubs with their ports by USB path, and slots without a USB port. Pure.
import { compareNaturally } from '#shared/natural-order.ts';
import type { ShownSlot } from '../host/shown-slots.ts';

/** A port of a hub. */
type HubPort =
  | { readonly port: number; readonly kind: 'slot'; readonly slots: readonly ShownSlot[] }
  /** The port has another hub. */
  | { readonly port: number; readonly kind: 'hub'; readonly path: string }
  | { readonly port: number; readonly kind: 'empty' };

/** A hub, or the root hub of a bus. */
export interface Hub {
  /** Its name in /sys/bus/usb/devices: "1-1.4", or "usb1" for a root hub. */
  readonly path: string;
  /** Ports from 1 to the last one in use. The hub does not report how many it has. */
  readonly ports: readonly HubPort[];
}

interface RackLayout {
  readonly hubs: readonly Hub[];
  /** Slots at ports that are not USB devices, and named slots whose modem has not appeared yet. */
  readonly others: readonly ShownSlot[];
}

/** Higher port numbers get no empty places before them, because a path may contain any number. */
const EMPTY_PORTS_MAX = 32;

const USB_PATH = /^(\d{1,3})-(\d{1,3}(?:\.\d{1,3}){0,6})$/;

/** Returns hub and port of a USB path: "1-1.4" is port 4 of hub "1-1", "1-2" is port 2 of "usb1". */
function placeOf(path: string): { hub: string; port: number } | undefined {
  const [, bus = '', ports] = USB_PATH.exec(path) ?? [];
  if (ports === undefined) return undefined;
  const steps = ports.split('.');
  const port = Number(steps.pop());
  return { hub: steps.length === 0 ? `usb${bus}` : `${bus}-${steps.join('.')}`, port };
}

/** Returns hubs in the order of their paths. A hub comes after the hub that it is plugged into. */
export function layOut(slots: readonly ShownSlot[]): RackLayout {
  const hubs = new Map<string, Map<number, ShownSlot[]>>();
  const others: ShownSlot[] = [];
  for (const slot of slots) {
    const place = slot.usb_path === null ? undefined : placeOf(slot.usb_path);
    if (place === undefined) {
      others.push(slot);
      continue;
    }
    const ports = hubs.get(place.hub) ?? new Map<number, ShownSlot[]>();
    hubs.set(place.hub, ports.set(place.port, [...(ports.get(place.port) ?? []), slot]));
  }
  const paths = [...hubs.keys()].sort(byPath);
  return {
    hubs: paths.map((path) => ({ path, ports: portsOf(path, hubs.get(path) ?? new Map(), paths) })),
    others: others.sort((a, b) => byPath(a.slot, b.slot)),
  };
}

function portsOf(path: string, slots: ReadonlyMap<number, ShownSlot[]>, hubs: readonly string[]): HubPort[] {
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

/** Orders "usb1" before "1-1", and "1-2" before "1-10". */
function byPath(a: string, b: string): number {
  const isRoot = Number(b.startsWith('usb')) - Number(a.startsWith('usb'));
  return isRoot !== 0 ? isRoot : compareNaturally(a, b);
}
