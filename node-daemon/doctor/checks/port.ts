// Checks of a modem's ports: permissions, other programs, and whether the modem answers.
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { type DeviceNode, type Holder, mayUse } from '../seen/device-node.ts';
import { answersOf, type ModemView, missingPorts, type SlotView } from '../seen/slot-view.ts';
import type { Seen, SlotCheck } from './check.ts';

/** Permission of the group to read and write. */
const GROUP_RW = 0o060;

/** May this user open the ports and the sound card? */
export const portRights: SlotCheck = ({ cardNodes, nodes }, seen) => {
  const all = [...nodes, ...cardNodes];
  if (all.length === 0) return skipped('no port found');
  const denied = all.filter((node) => !mayUse(seen.host.user, node));
  const [first] = denied;
  if (first === undefined) return ok(`this user may open ${all.length} devices`);
  // Only the daemon's user matters, and it has opened the devices.
  if (seen.daemon.isDaemonRunning && first.holders.length > 0) return ok('the daemon has them open');
  return deniedOutcome(first, denied.length, seen);
};

function deniedOutcome({ gid, mode, path }: DeviceNode, count: number, { host }: Seen): Outcome {
  const group = host.groups.get(gid) ?? String(gid);
  const more = count > 1 ? ` and ${count - 1} more` : '';
  if ((mode & GROUP_RW) === GROUP_RW && gid !== 0)
    return problem(
      `${path}${more} cannot be opened: this user is not in group ${group}`,
      `Run sudo usermod -aG ${group} <the daemon’s user>, then log in again or restart the daemon.`,
    );
  return problem(
    `only its owner can open ${path}${more} (mode ${mode.toString(8)})`,
    'Add a udev rule that gives it to a group: GROUP="dialout", MODE="0660"',
  );
}

/** Programs that use modems by themselves, by the first 15 letters of their names, and how to keep them away. */
const RIVALS: Readonly<Record<string, string>> = {
  ModemManager: 'Install the daemon’s udev rules, or run systemctl disable --now ModemManager.',
  brltty: 'Run apt remove brltty: it treats serial adapters as Braille displays.',
  'gammu-smsd': 'Run systemctl disable --now gammu-smsd.',
  gammu: 'Wait until it ends, or stop it.',
  smsd: 'Run systemctl disable --now smstools.',
  asterisk: 'Remove chan_dongle or chan_quectel from its configuration.',
  bearerbox: 'Remove the modem from the configuration of Kannel.',
  pppd: 'Remove the port from /etc/ppp and from the script that starts pppd.',
  wvdial: 'Stop it.',
  minicom: 'Close it.',
  picocom: 'Close it.',
  screen: 'Close it.',
};

/** Does another program have the modem's ports open? */
export const portHolder: SlotCheck = ({ nodes, slot }, { daemon, host }) => {
  if (nodes.length === 0) return skipped('no port found');
  const held = nodes.flatMap(({ holders, path }) => holders.map((holder) => ({ path, holder })));
  const rival = held.find(({ holder }) => holder.name in RIVALS);
  if (rival !== undefined) {
    const seen = `${nameOf(rival.holder)} has ${rival.path} open`;
    const advice = `${RIVALS[rival.holder.name]} Two programs that use one modem take each other’s answers and messages.`;
    return problem(seen, advice);
  }
  if (slot?.state !== 'lost' || slot.reason !== 'denied') return ok('no other program has it open');
  // The program that locked the port keeps the daemon out. Others, such as a simulator, may have it open too.
  const taken = held.find(({ holder }) => holder.hasLock) ?? held[0];
  if (taken !== undefined)
    return problem(
      `${nameOf(taken.holder)} has ${taken.path} open`,
      'Stop that program, or remove this modem from its configuration.',
    );
  if (!daemon.isDaemonRunning) return ok('no program that this user can see has it open');
  if (host.user.uid === 0)
    return problem(
      'the daemon has no permission to open it, and no other program has it open',
      'Give the daemon’s user the right to open the port: sudo usermod -aG <the port’s group, see "ls -l"> <that user>. Then restart the daemon.',
    );
  return warning(
    'the daemon cannot open it; this user cannot see which program has it open',
    'Run doctor as root. Only root sees the open files of all programs.',
  );
};

const nameOf = ({ name, pid }: Holder): string => `${name} (pid ${pid})`;

/** Does the modem answer? */
export const port: SlotCheck = (view) => {
  const { modem, nodes, place, slot } = view;
  const answers = answersOf(view);
  if (answers !== undefined) return answeredOutcome(answers);
  const [missing] = missingPorts(view);
  if (slot?.reason === 'absent')
    return problem(
      `no modem in this slot${missing === undefined ? '' : `: ${missing} does not exist`}`,
      'Run doctor again in a minute: a modem that the daemon restarts is away for a while. If it stays away, plug it in. If the configuration file has the slot, you can remove it there.',
    );
  if (place?.reason !== undefined) return skipped('no port; see above');
  if (slot?.reason === 'denied') return problem('cannot be opened', 'See port_rights and port_holder above.');
  const { why, wasTried } = 'why' in modem ? modem : { why: 'does not answer', wasTried: true };
  if (!wasTried) return isExpected(modem) ? notAsked(why) : skipped(why);
  // No slot reports that a device outside of all slots could not be opened.
  const locker =
    slot === undefined ? nodes.flatMap(({ holders }) => holders).find(({ hasLock }) => hasLock) : undefined;
  if (locker !== undefined)
    return skipped(`not queried: ${locker.name} (pid ${locker.pid}) has the port open`);
  return problem(why, MUTE_ADVICE);
};

const MUTE_ADVICE =
  'Unplug the modem and plug it in again: a modem that hangs ignores commands. If it hangs again soon, check its power and its cable.';

const isExpected = (modem: SlotView['modem']): boolean => 'why' in modem && modem.wasExpected === true;

/** For a modem that was not queried: the daemon says whether it starts. */
const notAsked = (why: string): Outcome =>
  warning(
    why,
    'The modem works on a long command, or the daemon sets it up or recovers it. Run doctor again in a minute. If this stays, read the log of the daemon.',
  );

function answeredOutcome({ unanswered, isMute, notAsked: why }: ModemView): Outcome {
  if (why !== undefined) return notAsked(`some queries were not made: ${why}`);
  const [first] = unanswered;
  if (first === undefined) return ok('answers');
  const seen = `did not answer ${first}${unanswered.length > 1 ? ` and ${unanswered.length - 1} more queries` : ''}`;
  if (isMute) return problem(`stopped answering: ${seen}`, MUTE_ADVICE);
  return warning(seen, 'Run doctor again. The checks that need these answers were not made.');
}

/** May the daemon reset the modem's USB device, as its recovery does? */
export const usbReset: SlotCheck = ({ device, resetFile }, { host }) => {
  if (device === undefined) return skipped('not a USB device');
  if (resetFile === undefined)
    return skipped('the recovery does not use the file "authorized" of this device');
  const { daemonUser } = host;
  if (daemonUser === undefined)
    return skipped(
      `no account has the user id ${host.dataFolder.uid} of the data folder, so the daemon’s groups are unknown`,
    );
  if (mayUse(daemonUser, resetFile)) return ok('the daemon may reset the USB device');
  return warning(
    `the daemon’s user (${daemonUser.uid}) may not write ${resetFile.path}, so its recovery cannot reset the modem`,
    'Install the daemon’s udev rules, which give that file to a group of the daemon. Or set recovery.usb_reset to off, or to uhubctl.',
  );
};
