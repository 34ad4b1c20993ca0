// Checks of the daemon's configuration file, data folder and modems.
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { enrollCommand } from '../../config/enroll-command.ts';
import { FREE_BYTES_GOOD, FREE_FILES_GOOD } from '../../journal/disk-room.ts';
import type { DataFolder } from '../seen/data-folder.ts';
import { answersOf, missingPorts } from '../seen/slot-view.ts';
import type { HostCheck } from './check.ts';

/** Can the configuration file be read, and is it right? */
export const configuration: HostCheck = ({ daemon }) => {
  if (daemon.configurationProblem === undefined) return ok('no errors');
  return problem(
    daemon.configurationProblem.replaceAll('\n', '; '),
    'Fix the configuration file. The daemon does not start until it is valid.',
  );
};

const MIB = 1024 * 1024;
/** Compaction copies the whole journal. A journal of 100,000 commands has 22 MB. */
const FREE_BYTES_MIN = 64 * MIB;
const FREE_FILES_MIN = 100;
const FULL_DISK =
  'While the disk is full, received messages stay on the SIMs, and the node sends no messages. No restart is needed afterwards.';

/** Can the journal be written, and does it have room? */
export const dataFolder: HostCheck = ({ host }) => {
  const { path, state, uid } = host.dataFolder;
  switch (state) {
    case 'foreign':
      return skipped(
        `${path} belongs to ${uid === undefined ? 'another user' : `user ${uid}`}: run doctor as that user or as root to check it`,
      );
    case 'no_folder':
      return problem(`${path} is not a folder`, 'Set data_dir or --data-dir to a folder.');
    case 'read_only':
      return problem(
        `${path} is on a read-only file system`,
        'Remount it as writable. Linux makes a file system read-only after a disk error: check "dmesg".',
      );
    case 'missing':
      return warning(
        `${path} does not exist`,
        `Enroll this node, which creates the folder: ${enrollCommand(path)}. Or name the right folder with --data-dir.`,
      );
    case 'writable':
      return roomOf(host.dataFolder);
  }
};

function roomOf({ path, freeBytes, freeFiles }: DataFolder): Outcome {
  const seen = `${path}: ${freeBytes === undefined ? 'free space unknown' : `${Math.floor(freeBytes / MIB)} MiB free`}`;
  const advice = `Free space on that disk. ${FULL_DISK}`;
  if (freeFiles !== undefined && freeFiles < FREE_FILES_MIN)
    return problem(`${seen}, too few free inodes`, advice);
  if (freeBytes !== undefined && freeBytes < FREE_BYTES_MIN) return problem(seen, advice);
  if (freeBytes !== undefined && freeBytes < FREE_BYTES_GOOD)
    return warning(seen, `Free space on that disk. The node still works. ${FULL_DISK}`);
  if (freeFiles !== undefined && freeFiles < FREE_FILES_GOOD)
    return warning(
      `${seen}, few free inodes`,
      `Delete files on that disk. The node still works. ${FULL_DISK}`,
    );
  return ok(seen);
}

/** Is there a modem, and does each IMEI occur only once? */
export const modems: HostCheck = ({ daemon, slots }) => {
  const present = slots.filter(({ device, nodes }) => device !== undefined || nodes.length > 0);
  const answering = slots.filter((each) => answersOf(each) !== undefined);
  if (present.length === 0 && answering.length > 0)
    return warning(
      `${answering.length} slots of the daemon answer, but doctor finds none of their modems on this host`,
      'Run doctor with the daemon’s --sysfs-root and --dev-root. Ports, permissions and power were not checked.',
    );
  if (present.length === 0 && (daemon.problem ?? daemon.configurationProblem) !== undefined)
    return skipped('the list of slots is not available');
  const missing = slots.flatMap(missingPorts);
  if (present.length === 0 && missing.length > 0)
    return problem(
      `no modem found: ${missing.join(', ')} ${missing.length === 1 ? 'does' : 'do'} not exist`,
      'Plug in the modem, or correct the path in --modem-ports or in the configuration file.',
    );
  if (present.length === 0)
    return problem(
      'no modem found',
      'Plug in a modem and check that "lsusb" lists it. For a port that is not a USB device, add a slot with port to the configuration file.',
    );
  const byImei = new Map<string, string[]>();
  for (const { name, slot } of slots) {
    const imei = slot?.state === 'lost' ? null : (slot?.device_id ?? null);
    if (imei !== null) byImei.set(imei, [...(byImei.get(imei) ?? []), name]);
  }
  const [same] = [...byImei.values()].filter((names) => names.length > 1);
  if (same !== undefined)
    return warning(
      `${same.join(' and ')} report the same IMEI`,
      'Replace one of these modems. Networks refuse a second modem with the same IMEI.',
    );
  const seen = `${present.length} of ${slots.length} slots have a modem`;
  const serials = slots.flatMap(({ usb }) => usb?.serial ?? []);
  const shared = serials.length - new Set(serials).size;
  if (shared === 0) return ok(seen);
  // The daemon identifies modems by place and IMEI. Only the port names that other programs use collide.
  return ok(`${seen}; some share a serial number, so /dev/serial/by-id cannot distinguish them`);
};
