// The options of mail: server and sender.
import * as z from 'zod';
import { emailSchema } from '#shared/api/requests.ts';

export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte; else STARTTLS if the server supports it. */
  isSecure: boolean;
  credentials: { user: string; pass: string } | undefined;
}

export interface MailAddress {
  name: string;
  address: string;
}

/** RFC 8314 §3.3, RFC 6409 §3.1. */
const SUBMISSIONS_PORT = 465;
const SUBMISSION_PORT = 587;

const SMTP_URL_FORM = 'must be smtp://user:password@host:port, or smtps://';

export const smtpUrlSchema = z.string().transform((text, context): SmtpServer => {
  const server = readSmtpUrl(text);
  if (server !== undefined) return server;
  context.addIssue(SMTP_URL_FORM);
  return z.NEVER;
});

function readSmtpUrl(text: string): SmtpServer | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const isSecure = protocol === 'smtps:';
  if ((!isSecure && protocol !== 'smtp:') || hostname === '' || port === '0') return undefined;
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') return undefined;
  if ((username === '') !== (password === '')) return undefined;
  try {
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (isSecure ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(port),
      isSecure,
      credentials:
        username === ''
          ? undefined
          : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    };
  } catch {
    return undefined;
  }
}

/** `address`, or `Name <address>`. */
export const mailFromSchema = z.string().transform((text, context): MailAddress => {
  const [, name = '', bracketed] = /^([^<>"\p{Cc}]*)<([^<>]*)>$/u.exec(text) ?? [];
  const parsed = emailSchema.safeParse(bracketed ?? text);
  if (parsed.success) return { name: name.trim(), address: parsed.data };
  context.addIssue('must be an e-mail address, or Name <address>');
  return z.NEVER;
});

export interface MailSettings {
  server: SmtpServer;
  from: MailAddress;
}

/** Undefined if no mail is sent. Throws if only one of the options is set. */
export function mailSettingsOf(options: {
  smtpUrl: SmtpServer | undefined;
  mailFrom: MailAddress | undefined;
  publicUrl: string | undefined;
}): MailSettings | undefined {
  const { smtpUrl: server, mailFrom: from, publicUrl } = options;
  if (server === undefined && from === undefined) return undefined;
  if (server === undefined) throw new Error('MAIL_FROM needs SMTP_URL: set both or neither');
  if (from === undefined) throw new Error('SMTP_URL needs MAIL_FROM, the sender of the mail');
  if (publicUrl === undefined) throw new Error('SMTP_URL needs PUBLIC_URL, for the links in mails');
  return { server, from };
}
