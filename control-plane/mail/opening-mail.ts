// The mail that announces available numbers.
import MailComposer from 'nodemailer/lib/mail-composer';
import type { MailAddress } from '../config/mail-options.ts';
import { UNSUBSCRIBE_PATH } from '../domain/waitlist-mail.ts';

interface OpeningMail {
  from: MailAddress;
  to: string;
  date: Date;
  /** The same for the same entry and opening: some mailboxes then show it once. */
  key: string;
  unsubscribeToken: string;
  serviceName: string;
  /** Without a trailing slash. */
  baseUrl: string;
}

/** In the format of RFC 5322. */
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
      // RFC 8058 §3.1 allows it only for HTTPS.
      ...(unsubscribeUrl.startsWith('https:')
        ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
        : {}),
      // RFC 3834: prevents out-of-office replies.
      'Auto-Submitted': 'auto-generated',
    },
    text: [
      `You asked ${serviceName} to mail you when phone numbers are available again. They are now:`,
      baseUrl,
      `This is the only mail that you get. To be mailed the next time, too, register again at ${baseUrl}/#waitlist.`,
      `To delete your address from the waitlist, open:\n${unsubscribeUrl}`,
    ].join('\n\n'),
  });
  return composer.compile().build();
}
