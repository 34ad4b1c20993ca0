// Checks of a modem's ports: rights, other programs, and whether the modem answers.
import { type Outcome, ok, problem, skipped, warning } from '../report/finding.ts';
import { type DeviceNode, type Holder, mayUse } from '../seen/device-node.ts';
import { answersOf } from '../seen/slot-view.ts';
import type { Seen, SlotCheck } from './check.ts';

/** Permission of the group to read and write. */
const GROUP_RW = 0o060;

/** May this user open the ports and the sound card? */
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

/** Programs that talk to modems by themselves, by the first 15 letters of their names, and how they are kept away. */
const RIVALS: Readonly<Record<string, string>> = {
  ModemManager: 'install the udev rules of the daemon, or: systemctl disable --now ModemManager',
  brltty: 'it takes serial adapters for Braille displays: apt remove brltty',
  'gammu-smsd': 'systemctl disable --now gammu-smsd',
  gammu: 'wait for its end, or end it',
  smsd: 'systemctl disable --now smstools',
  asterisk: 'take chan_dongle or chan_quectel out of its configuration',
  bearerbox: 'take the modem out of the configuration of Kannel',
  pppd: 'take the port out of /etc/ppp and of what starts pppd',
  wvdial: 'end it',
  minicom: 'close it',
  picocom: 'close it',
  screen: 'close it',
};

/** Has another program the modem's ports? */
export const portHolder: SlotCheck = ({ nodes, slot }, { desk, host }) => {
  if (nodes.length === 0) return skipped('no port is there');
  const held = nodes.flatMap(({ holders, path }) => holders.map((holder) => ({ path, holder })));
  const rival = held.find(({ holder }) => holder.name in RIVALS);
  if (rival !== undefined) {
    const seen = `${nameOf(rival.holder)} has ${rival.path} open`;
    const advice = `two programs on one modem take each other’s answers and messages: ${RIVALS[rival.holder.name]}`;
    return problem(seen, advice);
  }
  if (slot?.state !== 'lost' || slot.reason !== 'denied') return ok('nobody but the daemon');
  // The program that locked the port keeps this one out. Others may have it open too, as a simulator has.
  const taken = held.find(({ holder }) => holder.hasLock) ?? held[0];
  if (taken !== undefined)
    return problem(
      `${nameOf(taken.holder)} has ${taken.path}`,
      'end that program, or take this modem out of its configuration',
    );
  if (!desk.isDaemonRunning) return ok('nobody that can be seen');
  if (host.user.uid === 0)
    return problem(
      'the daemon may not open it, and nobody has it',
      'the user of the daemon has no rights on it: sudo usermod -aG <the group of the port, see "ls -l"> <that user>, then restart the daemon',
    );
  return warning(
    'the daemon may not open it, and who has it cannot be seen',
    'run doctor as root: only root sees the files of all programs',
  );
};

const nameOf = ({ name, pid }: Holder): string => `${name} (pid ${pid})`;

/** Does the modem answer? */
export const port: SlotCheck = (view) => {
  const { modem, nodes, place, slot } = view;
  if (answersOf(view) !== undefined) return ok('answers');
  if (slot?.reason === 'absent')
    return problem('no modem is in this slot', 'plug it in, or take the slot out of the configuration file');
  if (place?.reason !== undefined) return skipped('there is no port; see above');
  if (slot?.reason === 'denied') return problem('cannot be opened', 'see who has it, and the rights, above');
  const { why, wasTried } = 'why' in modem ? modem : { why: 'does not answer', wasTried: true };
  if (!wasTried) return skipped(why);
  // No slot reports that a device outside of all slots could not be opened.
  const locker =
    slot === undefined ? nodes.flatMap(({ holders }) => holders).find(({ hasLock }) => hasLock) : undefined;
  if (locker !== undefined) return skipped(`was not asked: ${locker.name} (pid ${locker.pid}) has it`);
  return problem(
    why,
    'pull its plug and put it in again: a modem that hangs hears nothing else. If it hangs again soon, look at its power and its cable',
  );
};
