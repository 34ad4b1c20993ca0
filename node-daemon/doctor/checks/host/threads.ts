// Are there threads left when ports hang in the kernel?
import { ok, warning } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

/** For the disk, names and the ports that work, beside one for each port. */
const THREADS_KEPT = 3;

export const threads: HostCheck = ({ host, slots }) => {
  const seen = `${host.threads} threads for ${slots.length} modems`;
  if (host.threads >= Math.min(slots.length, 32) + THREADS_KEPT) return ok(seen);
  return warning(
    seen,
    'ports that hang would hold up all others: set UV_THREADPOOL_SIZE=64 in the environment of the daemon',
  );
};
