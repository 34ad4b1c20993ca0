// Checks of the host's system: Node.js, threads, clock, ModemManager, udev rules and sound programs.
import { findUsbProduct } from '../../modem/profiles/find-profile.ts';
import { ok, problem, skipped, warning } from '../report/finding.ts';
import type { HostView } from '../seen/host-view.ts';
import type { HostCheck } from './check.ts';

const NEEDED = [20, 19] as const;

/** Is this Node.js one that the daemon runs on? */
export const nodeVersion: HostCheck = ({ host }) => {
  const [major = 0, minor = 0] = host.nodeVersion.split('.').map(Number);
  const isNew = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  if (isNew) return ok(`Node.js ${host.nodeVersion}`);
  return problem(`Node.js ${host.nodeVersion}`, `install Node.js ${NEEDED.join('.')} or later`);
};

/** For the disk, names and the ports that work, beside one for each port. */
const THREADS_KEPT = 3;

/** Are there threads left when ports hang in the kernel? */
export const threads: HostCheck = ({ host, slots }) => {
  const seen = `${host.threads} threads for ${slots.length} modems`;
  if (host.threads >= Math.min(slots.length, 32) + THREADS_KEPT) return ok(seen);
  return warning(
    seen,
    'ports that hang would hold up all others: set UV_THREADPOOL_SIZE=64 in the environment of the daemon',
  );
};

/** From here on the control plane refuses the proof of a node, which costs a second try. */
const DIFFERENCE_MAX_MS = 60_000;
const MEND = 'let the system follow a time server: timedatectl set-ntp true';

/** Is the clock of this host right? */
export const clock: HostCheck = ({ host }) => {
  const { controlPlane, isClockSynchronized } = host;
  const differenceMs =
    controlPlane !== undefined && 'clockDifferenceMs' in controlPlane
      ? controlPlane.clockDifferenceMs
      : undefined;
  if (differenceMs !== undefined && Math.abs(differenceMs) >= DIFFERENCE_MAX_MS) {
    const seconds = Math.round(Math.abs(differenceMs) / 1000);
    return warning(`${seconds} s ${differenceMs > 0 ? 'behind' : 'ahead of'} the control plane`, MEND);
  }
  if (isClockSynchronized === false) return warning('follows no time server', MEND);
  if (differenceMs !== undefined) return ok('as that of the control plane');
  return isClockSynchronized === true
    ? ok('follows a time server')
    : skipped('there is nothing to compare it with');
};

/** USB vendors of the modems that are plugged in. */
function vendorsOf({ devices }: HostView): string[] {
  return [
    ...new Set(devices.filter(({ id }) => findUsbProduct(id) !== undefined).map(({ id }) => id.vendor)),
  ];
}

/** Are there udev rules for the modems of this host? */
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

const NAME = 'ModemManager';

/** Is ModemManager about to open our modems? */
export const modemManager: HostCheck = ({ host }) => {
  const running = host.programs.processes.find(({ name }) => name === NAME);
  if (running === undefined) return ok('does not run');
  if (host.isSimulated) return skipped('runs, and never sees simulated modems');
  const open = vendorsOf(host).filter((vendor) => !host.udevRules.ignoredByModemManager.has(vendor));
  if (open.length === 0) return ok('runs, and leaves the modems alone');
  return warning(
    `runs (pid ${running.pid}) and no udev rule keeps it away from the modems of ${open.join(', ')}`,
    'it opens each modem that comes and takes its messages: install the udev rules of the daemon, or "systemctl disable --now ModemManager"',
  );
};

/** Are the programs there with which sound cards are heard? */
export const soundPrograms: HostCheck = ({ host, slots }) => {
  const withCard = slots.filter(({ place }) => place?.audio?.card !== undefined);
  if (withCard.length === 0) return skipped('no modem has a sound card');
  const { missingSoundPrograms: missing } = host;
  if (missing.length === 0) return ok('arecord and aplay are there');
  return problem(
    `${missing.join(' and ')} not found, and ${withCard.length} modems have a sound card`,
    'calls of these modems are silent: apt install alsa-utils',
  );
};
