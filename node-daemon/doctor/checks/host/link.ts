// Is the running daemon's link up?
import { ownCommand } from '#shared/process/own-command.ts';
import { ok, problem, skipped, warning } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

export const link: HostCheck = ({ desk, host }) => {
  if (desk.problem !== undefined)
    return problem(desk.problem, 'without the daemon’s answer no modem can be asked');
  if (!desk.isDaemonRunning)
    return warning(
      'no daemon runs: its modems serve nobody',
      'start it: sudo systemctl start simrack-node-daemon; from a clone of the repository: npm run node-daemon',
    );
  if (desk.isLinked === undefined) return skipped('the daemon does not tell');
  if (desk.isLinked) return ok('up');
  if (host.enrolment.kind === 'not_enrolled') return problem('down: this node is not enrolled', 'enrol it');
  return problem(
    'down',
    `see what "${ownCommand('node-daemon')} logs" says: the control plane may be away, or this node revoked`,
  );
};
