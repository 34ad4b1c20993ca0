// Does the control plane answer from here?
import { type Outcome, ok, problem, skipped, warning } from '../../finding.ts';
import type { HostCheck } from '../check.ts';

const DNS_ERRORS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME']);
const ROUTE_ERRORS = new Set([
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'timeout',
]);
const TLS_ERROR = /^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/;

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
