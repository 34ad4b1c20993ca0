// Checks of the channels to people: the mail server, and the receiver of alerts. They send neither mail nor alert.
import { systemClock } from '#shared/clock.ts';
import { isLoopback } from '#shared/loopback.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { MailTrouble, SmtpSession } from '../../mail/smtp-session.ts';
import type { Check, CheckedSettings } from './check.ts';
import { askHttp, failureAdvice } from './http-answer.ts';

export const channelChecks = ({ config }: CheckedSettings): Check[] => [
  { check: 'mail', chain: null, run: (signal) => mail(config, signal) },
  { check: 'alert_webhook', chain: null, run: (signal) => webhook(config.alertWebhookUrl, signal) },
];

/** Does the mail server take connections, and the password? */
async function mail({ smtpUrl: server }: CheckedSettings['config'], signal: AbortSignal): Promise<Outcome> {
  if (server === undefined) return skipped('SMTP_URL is not set: the service sends no mail');
  const where = `${server.host}:${server.port}`;
  try {
    const session = await SmtpSession.open(server, { clock: systemClock, signal });
    const { isEncrypted } = session;
    session.quit();
    const signedIn = server.credentials === undefined ? 'without a password' : 'signed in';
    const seen = `${where}: connected ${isEncrypted ? 'with TLS' : 'without TLS'}, ${signedIn}; no mail was sent`;
    if (isEncrypted || isLoopback(server.host)) return ok(seen);
    return warning(seen, 'Addresses travel in clear text. Use smtps://, or a server that offers STARTTLS.');
  } catch (error) {
    if (!(error instanceof MailTrouble)) throw error;
    const { step, kind, reply } = error.details;
    const details = [step, kind, reply].filter((part) => part !== undefined).join(' ');
    return problem(
      `${where} cannot be used: ${details}`,
      kind === 'EAUTH'
        ? 'Correct the user and the password in SMTP_URL. The server may require an app password.'
        : 'Check host and port in SMTP_URL (smtps:// is TLS from the first byte, port 465), the certificate of the server, and the firewalls.',
    );
  }
}

/** Does the receiver of alerts answer? */
async function webhook(url: string | undefined, signal: AbortSignal): Promise<Outcome> {
  if (url === undefined) return skipped('ALERT_WEBHOOK_URL is not set: no alerts by webhook');
  const { host } = new URL(url);
  const answer = await askHttp(url, { method: 'HEAD', signal });
  if ('error' in answer)
    return problem(`${host} does not answer: ${answer.error}`, failureAdvice(answer.error, host));
  const seen = `${host} answers HEAD with ${answer.status}; no alert was sent`;
  if (answer.status >= 500)
    return warning(seen, 'The receiver has a problem. When it works, run "control-plane alert test".');
  if (answer.status >= 300 && answer.status < 400)
    return problem(seen, 'The service follows no redirect. Set ALERT_WEBHOOK_URL to the final URL.');
  return ok(`${seen} ("control-plane alert test" sends one)`);
}
