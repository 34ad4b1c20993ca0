// May this user open the ports and the sound card?
import { type Outcome, ok, problem, skipped } from '../../finding.ts';
import { type DeviceNode, mayUse } from '../../host/device-node.ts';
import type { Seen, SlotCheck } from '../check.ts';

/** Permission of the group to read and write. */
const GROUP_RW = 0o060;

export const portRights: SlotCheck = ({ cardNodes, nodes }, seen) => {
  const all = [...nodes, ...cardNodes];
  if (all.length === 0) return skipped('no port is there');
  const denied = all.filter((node) => !mayUse(seen.host.user, node));
  const [first] = denied;
  if (first === undefined) return ok(`${all.length} devices may be opened`);
  // The user that matters is the daemon's, and it has them.
  if (seen.desk.isDaemonRunning && first.holders.length > 0) return ok('the daemon has them open');
  return deniedOutcome(first, denied.length, seen);
};

function deniedOutcome({ gid, mode, path }: DeviceNode, count: number, { host }: Seen): Outcome {
  const group = host.groups.get(gid) ?? String(gid);
  const more = count > 1 ? ` and ${count - 1} more` : '';
  if ((mode & GROUP_RW) === GROUP_RW && gid !== 0)
    return problem(
      `${path}${more} may not be opened: this user is not in group ${group}`,
      `sudo usermod -aG ${group} <the user of the daemon>, then log in again or restart the daemon`,
    );
  return problem(
    `${path}${more} may be opened by its owner only (mode ${mode.toString(8)})`,
    'a udev rule is to give it to a group: GROUP="dialout", MODE="0660"',
  );
}
