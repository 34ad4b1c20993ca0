// Checks of the USB tree as a whole: endpoints of each controller, and hubs in a row.
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { findUsbProduct } from '../../profiles/find-profile.ts';
import type { UsbController, UsbNode, UsbTopology } from '../seen/usb-topology.ts';
import type { HostCheck, SlotCheck } from './check.ts';

/** The limits of a controller. */
interface ControllerLimits {
  /** Endpoints of all devices and hubs, with endpoint 0 of each. */
  readonly endpoints?: number;
  /** Devices and hubs. */
  readonly devices?: number;
}

/**
 * Known limits, by the beginning of the PCI id. Makers publish none; these are observed. Sources: Microchip, "Not enough USB controller
 * resources" (Intel 8 Series: 96 endpoints, hubs count too); github.com/mvp/uhubctl/issues/276 (96 endpoints, 32 devices of 3 each);
 * github.com/raspberrypi/linux/issues/3366 (VIA VL805 of the Raspberry Pi 4: "Max number of devices this xHCI host supports is 32").
 * Not proved for every model of these makers.
 */
const LIMITS: readonly (readonly [pciId: string, limits: ControllerLimits])[] = [
  ['8086:', { endpoints: 96 }],
  ['1106:3483', { devices: 32 }],
];

/** Use of one controller. */
interface ControllerUse {
  readonly controller: UsbController;
  readonly limits: ControllerLimits;
  /** As in `ControllerLimits`. */
  readonly endpoints: number;
  readonly devices: number;
  readonly modems: number;
  /** The largest number of endpoints that one of the modems takes, with endpoint 0. Null without a modem. */
  readonly perModem: number | null;
  /** Devices that the kernel did not turn on. */
  readonly refused: readonly string[];
}

/** How many endpoints the host controller serves a device with: endpoint 0 is one of them. */
const claimed = ({ endpoints }: UsbNode): number => endpoints + 1;

const isModem = ({ id }: UsbNode): boolean => {
  const [vendor = '', product = ''] = id.split(':');
  return findUsbProduct({ vendor, product }) !== undefined;
};

/** Returns the use of each controller that is an xHCI, or may be one. Others have no such limit: their schedules are in memory. */
function controllerUses({ controllers, nodes }: UsbTopology): ControllerUse[] {
  return controllers
    .filter(({ driver }) => driver === undefined || driver.startsWith('xhci'))
    .map((controller) => {
      const { buses, pciId = '' } = controller;
      // The controller serves its root hubs itself.
      const plugged = nodes.filter(({ bus, path }) => buses.includes(bus) && !path.startsWith('usb'));
      const modems = plugged.filter((node) => node.isConfigured && isModem(node));
      return {
        controller,
        limits: LIMITS.find(([id]) => pciId.startsWith(id))?.[1] ?? {},
        endpoints: plugged.reduce((sum, node) => sum + claimed(node), 0),
        devices: plugged.length,
        modems: modems.length,
        perModem: modems.length === 0 ? null : Math.max(...modems.map(claimed)),
        refused: plugged.filter((node) => !node.isConfigured).map(({ path }) => path),
      };
    });
}

/** How many more modems like the largest one a controller holds; `undefined` if its limits or the modems are unknown. */
function roomFor({ limits, endpoints, devices, perModem }: ControllerUse): number | undefined {
  if (perModem === null) return undefined;
  const rooms = [
    limits.endpoints === undefined ? [] : Math.floor((limits.endpoints - endpoints) / perModem),
    limits.devices === undefined ? [] : limits.devices - devices,
  ].flat();
  return rooms.length === 0 ? undefined : Math.min(...rooms);
}

const ADVICE =
  'Plug modems into ports of another controller: a PCIe card with its own USB controllers, or another host. "lsusb -t" shows the buses. Hubs add no endpoints; they take some.';

function judge(use: ControllerUse): Outcome {
  const { controller, devices, endpoints, limits, modems, refused } = use;
  const { buses, name, pciId } = controller;
  const of = (limit: number | undefined): string => (limit === undefined ? '' : ` of ${limit}`);
  const which = `controller ${name}${pciId === undefined ? '' : ` (${pciId})`}, bus ${buses.join(' and ')}`;
  const seen = `${which}: ${endpoints}${of(limits.endpoints)} endpoints, ${devices}${of(limits.devices)} devices, ${modems} modems`;
  const room = roomFor(use);
  if (room === undefined) return ok(modems === 0 ? seen : `${seen}; its limit is not known`);
  if (room < 1 && refused.length > 0)
    return problem(
      `${seen}; it has no room for ${refused.join(', ')}, which the kernel did not turn on`,
      ADVICE,
    );
  if (room < 0) return problem(`${seen}; that is more than such controllers serve`, ADVICE);
  if (room === 0) return warning(`${seen}; it holds no more modems like these`, ADVICE);
  return ok(`${seen}; it holds ${room} more`);
}

/** Can the USB controllers serve the modems, and how many more? */
export const usbEndpoints: HostCheck = ({ host }) => {
  const outcomes = controllerUses(host.topology)
    .filter(({ devices }) => devices > 0)
    .map(judge);
  if (outcomes.length === 0) return skipped('no device at a USB 3 controller');
  const worst =
    outcomes.find(({ verdict }) => verdict === 'problem') ??
    outcomes.find(({ verdict }) => verdict === 'warning');
  return worst ?? ok(outcomes.map(({ seen }) => seen).join('; '));
};

/** USB 2.0 §4.1.1: seven tiers, with the root hub and the device itself. */
const HUBS_MAX = 5;

/** Are there too many hubs between the host and the modem? */
export const usbDepth: SlotCheck = ({ device }) => {
  if (device === undefined) return skipped('not a USB device');
  const hubs = device.usbPath.split('.').length - 1;
  const seen = hubs === 0 ? 'at a port of the host' : `behind ${hubs} hub${hubs === 1 ? '' : 's'}`;
  const advice = `Plug its hub in closer to the host. Hubs of seven and more ports often are two hubs in a row.`;
  if (hubs > HUBS_MAX) return problem(`${seen}; USB allows ${HUBS_MAX}`, advice);
  if (hubs === HUBS_MAX) return warning(`${seen}, as many as USB allows`, advice);
  return ok(seen);
};
