// Is this Node.js one that the daemon runs on?
import { ok, problem } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

const NEEDED = [20, 19] as const;

export const nodeVersion: HostCheck = ({ host }) => {
  const [major = 0, minor = 0] = host.nodeVersion.split('.').map(Number);
  const isNew = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  if (isNew) return ok(`Node.js ${host.nodeVersion}`);
  return problem(`Node.js ${host.nodeVersion}`, `install Node.js ${NEEDED.join('.')} or later`);
};
