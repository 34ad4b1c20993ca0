// Does this node have a name and a key?
import { ownCommand } from '#shared/process/own-command.ts';
import { ok, problem, skipped } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

const ENROL = `run what "control-plane node add <name>" prints: ${ownCommand('node-daemon')} enrol <url> <code>`;

export const enrolment: HostCheck = ({ host }) => {
  const known = host.enrolment;
  switch (known.kind) {
    case 'enrolled':
      return ok(`${known.nodeId} at ${known.controlPlaneUrl}`);
    case 'refused_plain':
      return problem(
        `${known.controlPlaneUrl} has no TLS, and this node was not enrolled with --insecure: the daemon does not connect`,
        'enrol it again with the https:// URL, or with --insecure if the whole network in between is yours',
      );
    case 'not_enrolled':
      return problem('this node is not enrolled: nobody can use its modems', ENROL);
    case 'damaged':
      return problem('identity.json is damaged', `enrol this node again: ${ENROL}`);
    case 'foreign':
      return skipped('identity.json belongs to another user: run doctor as that user, or as root');
  }
};
