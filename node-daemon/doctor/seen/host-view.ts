// Reads the facts of the host that the checks use.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Clock } from '#shared/clock.ts';
import { threadPoolSize } from '#shared/process/thread-pool.ts';
import type { DaemonSettings } from '../../config/options.ts';
import { type UsbDevice, usbDevices } from '../../usb/usb-device.ts';
import { UsbTreeReader } from '../../usb/usb-tree.ts';
import { type ControlPlaneAnswer, probeControlPlane } from './control-plane-probe.ts';
import { readDaemonUser } from './daemon-user.ts';
import { type DataFolder, type Enrollment, readDataFolder, readEnrollment } from './data-folder.ts';
import type { Programs, User } from './device-node.ts';
import { readDisconnects } from './kernel-log.ts';
import { readLocks, readProcesses } from './processes.ts';
import { readUdevRules, type UdevRules } from './udev-rules.ts';
import { readUsbAttributes, type UsbAttributes } from './usb-attributes.ts';
import { readUsbTopology, type UsbTopology } from './usb-topology.ts';

const KERNEL_SYSFS = '/sys';
export const PROC = '/proc';

export interface HostView {
  readonly nodeVersion: string;
  /** Size of the thread pool for blocking calls. */
  readonly threads: number;
  readonly user: User;
  /** The user that the daemon runs as: the owner of its data folder. Undefined if its groups are unknown. */
  readonly daemonUser: User | undefined;
  /** Whether its modems are simulated: udev rules and services of this host do not affect them. */
  readonly isSimulated: boolean;
  readonly dataFolder: DataFolder;
  readonly enrollment: Enrollment;
  /** Undefined if the control plane is unknown. */
  readonly controlPlane: ControlPlaneAnswer | undefined;
  readonly isClockSynchronized: boolean | undefined;
  readonly programs: Programs;
  readonly udevRules: UdevRules;
  /** Names of the programs for sound cards that are not installed. */
  readonly missingSoundPrograms: readonly string[];
  /** All USB devices except hubs. */
  readonly devices: readonly UsbDevice[];
  /** Attributes of the same devices, by USB path. */
  readonly usb: ReadonlyMap<string, UsbAttributes>;
  /** The whole USB tree, hubs included. */
  readonly topology: UsbTopology;
  /** Number of disconnects by USB path. Empty if the kernel log may not be read. */
  readonly disconnects: ReadonlyMap<string, number>;
  /** Group names by number. */
  readonly groups: ReadonlyMap<number, string>;
}

/** Reads all facts at once. Never rejects. Facts that cannot be read are missing. */
export async function readHost(settings: DaemonSettings, clock: Clock): Promise<HostView> {
  const { dataDir, sysfsRoot } = settings;
  const devices = devicesIn(sysfsRoot);
  const enrollment = readEnrollment(dataDir);
  const isSimulated = sysfsRoot !== KERNEL_SYSFS;
  const [dataFolder, controlPlane, isSynchronized, udevRules, missing, usb, groups, topology] =
    await Promise.all([
      readDataFolder(dataDir),
      enrollment.kind === 'enrolled' ? probeControlPlane(enrollment.controlPlaneUrl, clock) : undefined,
      isClockSynchronized(),
      readUdevRules(),
      missingSoundPrograms(),
      Promise.all(devices.map((device) => readUsbAttributes(device, { sysfsRoot, clock }))),
      readGroups('/etc/group'),
      readUsbTopology(sysfsRoot, clock),
    ]);
  const user = readUser();
  const programs = readPrograms();
  const daemonUid = dataFolder.uid ?? user.uid;
  return {
    nodeVersion: process.versions.node,
    threads: threadPoolSize(),
    user,
    daemonUser:
      daemonUid === user.uid
        ? user
        : readDaemonUser(daemonUid, { ...programs, etcRoot: '/etc', procRoot: PROC }),
    isSimulated,
    dataFolder,
    enrollment,
    controlPlane,
    udevRules,
    devices,
    groups,
    topology,
    isClockSynchronized: isSynchronized,
    missingSoundPrograms: missing,
    usb: new Map(usb.map((each) => [each.usbPath, each])),
    programs,
    // The kernel log does not contain simulated devices.
    disconnects: isSimulated ? new Map() : readDisconnects('/dev/kmsg'),
  };
}

/** Programs come and go, so callers read them again right before they use them. */
export function readPrograms(): Programs {
  return { processes: readProcesses(PROC), locks: readLocks(PROC), own: [process.pid] };
}

function readUser(): User {
  return {
    uid: process.geteuid?.() ?? 0,
    groups: [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])],
  };
}

function devicesIn(sysfsRoot: string): UsbDevice[] {
  try {
    return usbDevices(new UsbTreeReader(sysfsRoot).read());
  } catch {
    return [];
  }
}

/** Reads the lines of group(5): name, password, number, members. */
async function readGroups(file: string): Promise<Map<number, string>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.split(':'));
  return new Map(lines.flatMap(([name = '', , gid]) => (gid === undefined ? [] : [[Number(gid), name]])));
}

const ANSWER_TIMEOUT_MS = 3_000;

/** Returns the output of a program; `undefined` if it is not installed, fails, or takes longer than 3 s. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, output) =>
      resolve(error === null ? output.trim() : undefined),
    );
  });
}

/** Returns whether the system clock is synchronized with a time server; `undefined` if unknown. */
async function isClockSynchronized(): Promise<boolean | undefined> {
  const output = await outputOf('timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  return output === 'yes' ? true : output === 'no' ? false : undefined;
}

/** Returns the names of the missing programs for sound cards. */
async function missingSoundPrograms(): Promise<string[]> {
  const programs = ['arecord', 'aplay'];
  const outputs = await Promise.all(programs.map((program) => outputOf(program, ['--version'])));
  return programs.filter((_, position) => outputs[position] === undefined);
}
