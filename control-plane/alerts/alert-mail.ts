// Alerts for people: one plain mail per message.
import MailComposer from 'nodemailer/lib/mail-composer';
import type { Clock } from '#shared/clock.ts';
import type { MailSettings } from '../config/mail-options.ts';
import type { AlertMessage } from '../domain/alert.ts';
import { MailTrouble, SmtpSession } from '../mail/smtp-session.ts';
import type { AlertChannel, Delivery } from './alert-channel.ts';
import { alertSubject, alertText, type Sender } from './alert-message.ts';

const DELIVERIES = {
  address_refused: 'refused',
  mail_refused: 'refused',
  deferred: 'refused',
  unknown: 'unknown',
  unavailable: 'unavailable',
} as const satisfies Record<MailTrouble['outcome'], Delivery['outcome']>;

export function createAlertMail(
  { clock, server, from }: MailSettings & { clock: Clock },
  to: string,
  sender: Sender,
): AlertChannel {
  return {
    name: 'mail',
    async send(message, { signal }) {
      try {
        const mail = await compose(message, { from, to, sender });
        const session = await SmtpSession.open(server, { clock, signal });
        await session.send({ from: from.address, to }, mail);
        session.quit();
        return { outcome: 'sent', detail: 'taken' };
      } catch (error) {
        if (!(error instanceof MailTrouble)) throw error;
        const { step, kind, reply, status } = error.details;
        const detail = [step, reply, status, reply === undefined ? kind : undefined];
        return {
          outcome: DELIVERIES[error.outcome],
          detail: detail.filter((part) => part !== undefined).join(' ') || 'no connection',
        };
      }
    },
  };
}

function compose(
  message: AlertMessage,
  { from, to, sender }: { from: MailSettings['from']; to: string; sender: Sender },
): Promise<Buffer> {
  const composer = new MailComposer({
    from,
    to: { name: '', address: to },
    date: message.createdAt,
    // The same for every attempt: some mailboxes then show it once.
    messageId: `<${message.id}@${from.address.replace(/^.*@/, '')}>`,
    subject: alertSubject(message, sender),
    // RFC 3834: prevents out-of-office replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: alertText(message, sender),
  });
  return composer.compile().build();
}
