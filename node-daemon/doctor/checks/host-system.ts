// Checks of the host's system: Node.js, threads, clock, ModemManager, udev rules and sound programs.
import { ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { findUsbProduct } from '../../profiles/find-profile.ts';
import { THREADS_KEPT } from '../../system/hang-guard.ts';
import type { HostView } from '../seen/host-view.ts';
import type { HostCheck } from './check.ts';

const NEEDED = [20, 19] as const;

/** Does the daemon support this version of Node.js? */
export const nodeVersion: HostCheck = ({ host }) => {
  const [major = 0, minor = 0] = host.nodeVersion.split('.').map(Number);
  const isNew = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  if (isNew) return ok(`Node.js ${host.nodeVersion}`);
  return problem(`Node.js ${host.nodeVersion}`, `Install Node.js ${NEEDED.join('.')} or later.`);
};

/** Are there threads left when ports hang in the kernel? */
export const threads: HostCheck = ({ host, slots }) => {
  const seen = `${host.threads} threads for ${slots.length} modems`;
  if (host.threads >= Math.min(slots.length, 32) + THREADS_KEPT) return ok(seen);
  return warning(
    seen,
    'Set UV_THREADPOOL_SIZE=64 in the environment of the daemon. Otherwise ports that hang can block all others.',
  );
};

/** From this difference on, the control plane refuses a node's proof and the node needs a second attempt. */
const DIFFERENCE_MAX_MS = 60_000;
const ADVICE = 'Synchronize the clock with a time server: timedatectl set-ntp true';

/** Is the clock of this host right? */
export const clock: HostCheck = ({ host }) => {
  const { controlPlane, isClockSynchronized } = host;
  const differenceMs =
    controlPlane !== undefined && 'clockDifferenceMs' in controlPlane
      ? controlPlane.clockDifferenceMs
      : undefined;
  if (differenceMs !== undefined && Math.abs(differenceMs) >= DIFFERENCE_MAX_MS) {
    const seconds = Math.round(Math.abs(differenceMs) / 1000);
    return warning(`${seconds} s ${differenceMs > 0 ? 'behind' : 'ahead of'} the control plane`, ADVICE);
  }
  if (isClockSynchronized === false) return warning('not synchronized with a time server', ADVICE);
  if (differenceMs !== undefined) return ok('agrees with the control plane');
  return isClockSynchronized === true
    ? ok('synchronized with a time server')
    : skipped('doctor has nothing to compare it with');
};

/** USB vendors of the modems that are plugged in. */
function vendorsOf({ devices }: HostView): string[] {
  return [
    ...new Set(devices.filter(({ id }) => findUsbProduct(id) !== undefined).map(({ id }) => id.vendor)),
  ];
}

/** Are there udev rules for the modems of this host? */
export const udevRules: HostCheck = ({ host }) => {
  if (host.isSimulated) return skipped('udev does not handle simulated modems');
  const vendors = vendorsOf(host);
  if (vendors.length === 0) return skipped('no modem of a known make is plugged in');
  const { awake, ignoredByModemManager } = host.udevRules;
  const without = vendors.filter((vendor) => !awake.has(vendor) || !ignoredByModemManager.has(vendor));
  if (without.length === 0) return ok('turn autosuspend off and keep ModemManager away');
  return warning(
    `no rules for modems of vendor ${without.join(', ')}`,
    'Install the daemon’s rules (see docs/operators/permissions.md; the package does it), then run "udevadm control --reload && udevadm trigger".',
  );
};

const NAME = 'ModemManager';

/** Is ModemManager about to open our modems? */
export const modemManager: HostCheck = ({ host }) => {
  const running = host.programs.processes.find(({ name }) => name === NAME);
  if (running === undefined) return ok('not running');
  if (host.isSimulated) return skipped('running, but does not use simulated modems');
  const open = vendorsOf(host).filter((vendor) => !host.udevRules.ignoredByModemManager.has(vendor));
  if (open.length === 0) return ok('running, but ignores these modems');
  return warning(
    `running (pid ${running.pid}), and no udev rule keeps it away from modems of vendor ${open.join(', ')}`,
    'Install the daemon’s udev rules, or run "systemctl disable --now ModemManager". ModemManager opens new modems and takes their messages.',
  );
};

/** Are the programs installed that play and record sound cards? */
export const soundPrograms: HostCheck = ({ host, slots }) => {
  const withCard = slots.filter(({ place }) => place?.audio?.card !== undefined);
  if (withCard.length === 0) return skipped('no modem has a sound card');
  const { missingSoundPrograms: missing } = host;
  if (missing.length === 0) return ok('arecord and aplay are installed');
  return problem(
    `${missing.join(' and ')} not found, but ${withCard.length} modems have a sound card`,
    'Run apt install alsa-utils. Until then calls of these modems are silent.',
  );
};
