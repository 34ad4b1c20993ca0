// Checks of the way to the control plane: enrolment, network and link.
import { ownCommand } from '#shared/process/own-command.ts';
import { type Outcome, ok, problem, skipped, warning } from '../report/finding.ts';
import type { HostCheck } from './check.ts';

const ENROL = `run what "control-plane node add <name>" prints: ${ownCommand('node-daemon')} enrol <url> <code>`;

/** Does this node have a name and a key? */
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

const DNS_ERRORS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME']);
const ROUTE_ERRORS = new Set([
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'timeout',
]);
const TLS_ERROR = /^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/;

/** Does the control plane answer from here? */
export const controlPlane: HostCheck = ({ host }) => {
  const answer = host.controlPlane;
  if (answer === undefined) return skipped('this node is not enrolled, or nobody may see where');
  if ('error' in answer) return failure(answer.url, answer.error);
  const { status, url } = answer;
  if (status === 200) return ok(`${url} answers`);
  if (status >= 500)
    return warning(
      `${url} answers ${status}`,
      'it is not in service now: the daemon goes on by itself when it is',
    );
  return warning(
    `${url} answers ${status}`,
    'is it the base URL of the control plane? A proxy in between may answer for it',
  );
};

function failure(url: string, error: string): Outcome {
  const { hostname } = new URL(url);
  const seen = `${url} does not answer: ${error}`;
  if (DNS_ERRORS.has(error))
    return problem(
      seen,
      `the name ${hostname} is not found: look at /etc/resolv.conf, and try "getent hosts ${hostname}"`,
    );
  if (error === 'CERT_NOT_YET_VALID' || error === 'CERT_HAS_EXPIRED')
    return problem(
      seen,
      'the certificate is not valid at the time that this host has: look at "date" first, then at the certificate',
    );
  if (TLS_ERROR.test(error))
    return problem(
      seen,
      'the certificate is not trusted here: install ca-certificates, or find who intercepts TLS',
    );
  if (ROUTE_ERRORS.has(error))
    return problem(seen, 'no way to it: look at the network of this host and at firewalls');
  if (error === 'ECONNREFUSED')
    return problem(
      seen,
      `the host is there and nothing listens: is the control plane running, and the port right?`,
    );
  return problem(seen, 'look at the network of this host');
}

/** Is the running daemon's link up? */
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
