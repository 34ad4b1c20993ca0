// Is the clock of this host right?
import { ok, skipped, warning } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

/** From here on the control plane refuses the proof of a node, which costs a second try. */
const DIFFERENCE_MAX_MS = 60_000;
const MEND = 'let the system follow a time server: timedatectl set-ntp true';

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
