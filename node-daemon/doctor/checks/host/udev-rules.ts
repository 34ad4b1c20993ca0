// Are there udev rules for the modems of this host?
import { findUsbProduct } from '../../../modem/profiles/find-profile.ts';
import { ok, skipped, warning } from '../../finding.ts';
import type { HostView } from '../../host/host-view.ts';
import type { HostCheck } from '../check.ts';

/** USB vendors of the modems that are plugged in. */
export function vendorsOf({ devices }: HostView): string[] {
  return [
    ...new Set(devices.filter(({ id }) => findUsbProduct(id) !== undefined).map(({ id }) => id.vendor)),
  ];
}

export const udevRules: HostCheck = ({ host }) => {
  if (host.isSimulated) return skipped('udev never sees simulated modems');
  const vendors = vendorsOf(host);
  if (vendors.length === 0) return skipped('no modem of a known make is plugged in');
  const { awake, ignoredByModemManager } = host.udevRules;
  const without = vendors.filter((vendor) => !awake.has(vendor) || !ignoredByModemManager.has(vendor));
  if (without.length === 0) return ok('keep autosuspend off and ModemManager away');
  return warning(
    `none for the modems of ${without.join(', ')}`,
    'install those of the daemon (the package does it; see docs/operators/permissions.md), then "udevadm control --reload && udevadm trigger"',
  );
};
