// Is ModemManager about to open our modems?
import { ok, skipped, warning } from '../../finding.ts';
import type { HostCheck } from '../check.ts';
import { vendorsOf } from './udev-rules.ts';

const NAME = 'ModemManager';

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
