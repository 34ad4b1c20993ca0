// Checks of the connection to the control plane: enrollment, network and link.
import { LINK_CLOSE } from '#shared/link/close.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { enrollCommand } from '../../config/enroll-command.ts';
import type { LinkFailure } from '../../link/control-link.ts';
import type { HostView } from '../seen/host-view.ts';
import type { HostCheck } from './check.ts';

const enrollAdvice = (folder: string): string =>
  `Run "control-plane node add <name>" on the service, then here, with its URL and code: ${enrollCommand(folder)}`;

const nameOf = ({ enrollment: known }: HostView): string =>
  known.kind === 'enrolled' ? known.nodeId : '<name>';

/** Does this node have a name and a key? */
export const enrollment: HostCheck = ({ daemon, host }) => {
  const known = host.enrollment;
  if (daemon.wrongFolderAdvice !== undefined) return skipped('the data folder belongs to another program');
  switch (known.kind) {
    case 'enrolled':
      return ok(`${known.nodeId} at ${known.controlPlaneUrl}`);
    case 'refused_plain':
      return problem(
        `${known.controlPlaneUrl} has no TLS, and this node was not enrolled with --insecure: the daemon does not connect`,
        'Enroll it again with the https:// URL, or with --insecure if you control the whole network in between. A new code needs --replace too.',
      );
    case 'not_enrolled':
      return problem(
        'this node is not enrolled: its numbers cannot be sold',
        enrollAdvice(host.dataFolder.path),
      );
    case 'damaged':
      return problem(
        'identity.json is damaged',
        `Enroll this node again. ${enrollAdvice(host.dataFolder.path)}`,
      );
    case 'foreign':
      return skipped('identity.json belongs to another user: run doctor as that user or as root');
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

/** Does the control plane answer this host? */
export const controlPlane: HostCheck = ({ host }) => {
  const answer = host.controlPlane;
  if (answer === undefined)
    return skipped('this node is not enrolled, or this user may not read its identity');
  if ('error' in answer) return failure(answer.url, answer.error);
  const { status, url } = answer;
  if (status === 200) return ok(`${url} answers`);
  if (status >= 500)
    return warning(
      `${url} answers ${status}`,
      'The control plane is unavailable. The daemon reconnects when it is back.',
    );
  return warning(
    `${url} answers ${status}`,
    'Check that this is the base URL of the control plane, and that no proxy answers in its place.',
  );
};

function failure(url: string, error: string): Outcome {
  const { hostname } = new URL(url);
  const seen = `${url} does not answer: ${error}`;
  if (DNS_ERRORS.has(error))
    return problem(
      seen,
      `The name ${hostname} was not found. Check /etc/resolv.conf, and try "getent hosts ${hostname}".`,
    );
  if (error === 'CERT_NOT_YET_VALID' || error === 'CERT_HAS_EXPIRED')
    return problem(
      seen,
      'The certificate is not valid at the time of this host’s clock. Check "date" first, then the certificate.',
    );
  if (TLS_ERROR.test(error))
    return problem(
      seen,
      'This host does not trust the certificate. Install ca-certificates, or find the proxy that intercepts TLS.',
    );
  if (ROUTE_ERRORS.has(error))
    return problem(seen, 'This host has no route to it. Check its network and the firewalls.');
  if (error === 'ECONNREFUSED')
    return problem(
      seen,
      'The host answers, but nothing listens on that port. Check that the control plane runs and that the port is right.',
    );
  return problem(seen, 'Check the network of this host.');
}

/** Is the running daemon's link up? */
export const link: HostCheck = ({ daemon, host }) => {
  if (daemon.problem !== undefined)
    return problem(
      daemon.problem,
      daemon.wrongFolderAdvice ??
        (daemon.doesProblemAdvise
          ? 'Do what this message says, then run doctor again. It could not query the modems.'
          : 'If this persists, restart the daemon. Without its answer doctor cannot query the modems.'),
    );
  if (!daemon.isDaemonRunning)
    return warning(
      'the daemon does not run: its modems are out of service',
      'Start it: sudo systemctl start simrack-node-daemon (in a clone of the repository: npm run node-daemon).',
    );
  if (daemon.link === undefined) return skipped('the daemon did not report its link');
  if (daemon.link === 'linked') return ok('up');
  if (daemon.link === 'pending')
    return problem(
      'down: the key of this node waits for approval',
      `On the control plane, compare the fingerprint and run "control-plane node approve ${nameOf(host)}". The node then links within three seconds.`,
    );
  // The check `enrolment` reports that, with its advice.
  if (host.enrollment.kind === 'not_enrolled') return skipped('this node is not enrolled');
  return daemon.linkFailure === undefined
    ? problem('down', logAdvice(host))
    : downBecause(daemon.linkFailure, host);
};

const logAdvice = ({ dataFolder }: HostView): string =>
  `Run "${ownCommand('node-daemon')} logs --data-dir ${dataFolder.path}" for the reason. The control plane may be down.`;

/** The codes of `LINK_CLOSE`, and the HTTP statuses of an attempt that was refused. */
function downBecause({ status, code, reason }: LinkFailure, host: HostView): Outcome {
  const replaceAdvice = `Run "control-plane node add ${nameOf(host)}" on the service, then here, with its URL and code: ${enrollCommand(host.dataFolder.path)} --replace`;
  switch (status ?? code) {
    case 401:
    case LINK_CLOSE.unauthorized:
      return problem(
        'down: the control plane does not accept the key of this node (401). The node was enrolled again, perhaps on another host, or it was removed',
        `If another host replaced this one, stop the daemon here. Otherwise: ${replaceAdvice}`,
      );
    case 403:
    case LINK_CLOSE.revoked:
      return problem('down: an operator revoked this node (403)', `To bring it back: ${replaceAdvice}`);
    case LINK_CLOSE.replaced:
      return problem(
        'down: another daemon connected with the key of this node, which ended this link (4409)',
        'Two daemons use copies of one data folder. Stop one of them. If both are needed, enroll one under another name, with --replace.',
      );
    case LINK_CLOSE.versionUnsupported:
      return problem(
        'down: the control plane does not support the version of this daemon (4426)',
        'Install the version of node-daemon that belongs to the control plane.',
      );
    case 404:
      return problem(
        'down: the control plane’s URL has no link for nodes (404)',
        'Check that the node was enrolled with the base URL of the control plane, and that no proxy answers in its place.',
      );
    default:
      return problem(reason === '' ? `down (code ${code})` : `down: ${reason}`, logAdvice(host));
  }
}
