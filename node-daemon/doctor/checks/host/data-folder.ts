// Can the journal be written, and is there room for it?
import { ownCommand } from '#shared/process/own-command.ts';
import { type Outcome, ok, problem, skipped, warning } from '../../finding.ts';
import type { DataFolder } from '../../host/data-folder.ts';
import type { HostCheck } from '../check.ts';

const MIB = 1024 * 1024;
/** The journal is copied as a whole when it is compacted; one of 100,000 commands has 22 MB. */
const FREE_BYTES_MIN = 64 * MIB;
const FREE_BYTES_GOOD = 512 * MIB;
const FREE_FILES_MIN = 100;

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
