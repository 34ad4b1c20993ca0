// Is any modem there, and is each one only once?
import { ok, problem, skipped, warning } from '../../finding.ts';
import { answersOf } from '../../modem/slot-view.ts';
import type { HostCheck } from '../check.ts';

export const modems: HostCheck = ({ desk, slots }) => {
  const present = slots.filter(({ device, nodes }) => device !== undefined || nodes.length > 0);
  const answering = slots.filter((each) => answersOf(each) !== undefined);
  if (present.length === 0 && answering.length > 0)
    return warning(
      `${answering.length} slots of the daemon answer, and none of them is seen on this host`,
      'give doctor the --sysfs-root and --dev-root that the daemon has: ports, rights and power were not looked at',
    );
  if (present.length === 0 && (desk.problem ?? desk.configurationProblem) !== undefined)
    return skipped('nobody could be asked which slots there are');
  if (present.length === 0)
    return problem(
      'no modem found',
      'plug one in and look at "lsusb"; where its port is no USB device name it under slots, as port',
    );
  const byImei = new Map<string, string[]>();
  for (const { name, slot } of slots) {
    const imei = slot?.state === 'lost' ? null : (slot?.device_id ?? null);
    if (imei !== null) byImei.set(imei, [...(byImei.get(imei) ?? []), name]);
  }
  const [same] = [...byImei.values()].filter((names) => names.length > 1);
  if (same !== undefined)
    return warning(
      `${same.join(' and ')} tell the same IMEI`,
      'networks refuse a second modem of the same IMEI: exchange one of them',
    );
  const seen = `${present.length} of ${slots.length} slots have a modem`;
  const serials = slots.flatMap(({ usb }) => usb?.serial ?? []);
  const shared = serials.length - new Set(serials).size;
  if (shared === 0) return ok(seen);
  // Slots are places and IMEIs: only other programs' names for the ports collide.
  return ok(`${seen}; some share a serial number, so /dev/serial/by-id does not tell them apart`);
};
