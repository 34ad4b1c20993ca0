// The mail that says that numbers are there.
import MailComposer from 'nodemailer/lib/mail-composer';
import type { MailAddress } from '../config/mail-options.ts';
import { UNSUBSCRIBE_PATH } from '../domain/waitlist-mail.ts';

export interface OpeningMail {
  from: MailAddress;
  to: string;
  date: Date;
  /** The same for the same entry and opening: mailboxes that look show it once. */
  key: string;
  unsubscribeToken: string;
  serviceName: string;
  /** Without a slash at its end. */
  baseUrl: string;
}

/** As RFC 5322 has it on the wire. */
export function composeOpeningMail(mail: OpeningMail): Promise<Buffer> {
  const { baseUrl, date, from, key, serviceName, to, unsubscribeToken } = mail;
  const unsubscribeUrl = `${baseUrl}${UNSUBSCRIBE_PATH}?token=${unsubscribeToken}`;
  const composer = new MailComposer({
    from,
    to: { name: '', address: to },
    date,
    messageId: `<${key}@${from.address.replace(/^.*@/, '')}>`,
    subject: `${serviceName}: numbers are available`,
    headers: {
      'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
      // RFC 8058 §3.1 allows it for HTTPS only.
      ...(unsubscribeUrl.startsWith('https:')
        ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
        : {}),
      // RFC 3834: no out-of-office answers.
      'Auto-Submitted': 'auto-generated',
    },
    text: [
      `You asked to be told when ${serviceName} has phone numbers again. It has, while they last:`,
      baseUrl,
      `This is the only mail about it. To be told of the next time too, register again at ${baseUrl}/#waitlist.`,
      `Your address can be deleted from the waitlist here:\n${unsubscribeUrl}`,
    ].join('\n\n'),
  });
  return composer.compile().build();
}
