// Checks of the daemon's configuration file, data folder and modems.
import { ownCommand } from '#shared/process/own-command.ts';
import { type Outcome, ok, problem, skipped, warning } from '../report/finding.ts';
import type { DataFolder } from '../seen/data-folder.ts';
import { answersOf } from '../seen/slot-view.ts';
import type { HostCheck } from './check.ts';

/** Can the configuration file be read, and is it right? */
export const configuration: HostCheck = ({ desk }) => {
  if (desk.configurationProblem === undefined) return ok('read, and nothing is wrong in it');
  return problem(
    desk.configurationProblem.replaceAll('\n', '; '),
    'mend the file: the daemon does not start with it',
  );
};

const MIB = 1024 * 1024;
/** The journal is copied as a whole when it is compacted; one of 100,000 commands has 22 MB. */
const FREE_BYTES_MIN = 64 * MIB;
const FREE_BYTES_GOOD = 512 * MIB;
const FREE_FILES_MIN = 100;

/** Can the journal be written, and is there room for it? */
export const dataFolder: HostCheck = ({ host }) => {
  const { path, state, uid } = host.dataFolder;
  switch (state) {
    case 'foreign':
      return skipped(
        `${path} belongs to user ${uid ?? 'another'}: run doctor as that user, or as root, to look into it`,
      );
    case 'no_folder':
      return problem(`${path} is no folder`, 'name another folder: data_dir, or --data-dir');
    case 'read_only':
      return problem(
        `${path} is on a file system that is read-only`,
        'mount it for writing: after an error of the disk Linux makes it read-only, see "dmesg"',
      );
    case 'missing':
      return warning(
        `${path} is not there`,
        `enrol this node, which makes it: ${ownCommand('node-daemon')} enrol <url> <code>; or name the right folder with --data-dir`,
      );
    case 'writable':
      return roomOf(host.dataFolder);
  }
};

function roomOf({ path, freeBytes, freeFiles }: DataFolder): Outcome {
  const seen = `${path}: ${freeBytes === undefined ? 'room unknown' : `${Math.floor(freeBytes / MIB)} MiB free`}`;
  const advice = 'make room on that disk: without it messages stay on the SIMs and nothing is sent';
  if (freeFiles !== undefined && freeFiles < FREE_FILES_MIN)
    return problem(`${seen}, no inodes left`, advice);
  if (freeBytes !== undefined && freeBytes < FREE_BYTES_MIN) return problem(seen, advice);
  if (freeBytes !== undefined && freeBytes < FREE_BYTES_GOOD) return warning(seen, advice);
  return ok(seen);
}

/** Is any modem there, and is each one only once? */
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
