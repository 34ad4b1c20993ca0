// Where the modems are plugged in: hubs of seven ports on the ports of root hubs. Pure.

/** Ports of the hubs that racks are built with. */
const HUB_PORTS = 7;
/** Ports of a root hub. */
const ROOT_PORTS = 4;

/** A place for a device, named as the kernel names it: bus, dash, ports with dots between. */
export const USB_PATH = /^[1-9]\d{0,2}-[1-9]\d?(\.[1-9]\d?){0,5}$/;

/** "1-1.1" … "1-1.7", "1-2.1" …; `index` counts slots from 0. */
export function usbPathOf(index: number): string {
  const hub = Math.floor(index / HUB_PORTS);
  const bus = 1 + Math.floor(hub / ROOT_PORTS);
  return `${bus}-${1 + (hub % ROOT_PORTS)}.${1 + (index % HUB_PORTS)}`;
}

/** `busnum` and `devpath` of a path. */
export function partsOf(path: string): { busNumber: string; devicePath: string } {
  const [busNumber = '', devicePath = ''] = path.split('-');
  return { busNumber, devicePath };
}

/** Paths of the hubs above a device, the root's side first: none for a device on a root hub. */
export function hubsAbove(path: string): string[] {
  const steps = path.split('.');
  return steps.slice(0, -1).map((_, index) => steps.slice(0, index + 1).join('.'));
}
