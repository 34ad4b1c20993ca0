// A session with an SMTP server: one connection, one mail after another. Errors contain no addresses.
import { Readable } from 'node:stream';
import type { NodemailerError } from 'nodemailer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Clock } from '#shared/clock.ts';
import { isLoopback } from '#shared/loopback.ts';
import type { SmtpServer } from '../config/mail-options.ts';
import type { MailOutcome } from '../domain/waitlist-mail.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 30_000;
const OPEN_DEADLINE_MS = 30_000;

/** Limit for one mail, whatever the server does. */
export const SEND_DEADLINE_MS = 60_000;

/** A mail was not accepted. Servers repeat addresses in their texts, so only codes are reported. */
export class MailTrouble extends Error {
  override name = 'MailTrouble';
  readonly outcome: Exclude<MailOutcome, 'sent'>;
  /** The server ended the session, or no longer responded. */
  readonly isSessionLost: boolean;
  /** For the log. */
  readonly details: { step?: string; kind?: string; reply?: number; status?: string };

  constructor(outcome: MailTrouble['outcome'], error: NodemailerError) {
    super(`not sent: ${outcome}`);
    this.outcome = outcome;
    this.isSessionLost = isLost(error);
    const status = statusOf(error);
    this.details = {
      ...(error.command === undefined ? {} : { step: error.command }),
      ...(error.code === undefined ? {} : { kind: error.code }),
      ...(error.responseCode === undefined ? {} : { reply: error.responseCode }),
      ...(status === undefined ? {} : { status }),
    };
  }
}

interface SessionParts {
  clock: Clock;
  /** Ends the session. */
  signal: AbortSignal;
}

export class SmtpSession {
  readonly #connection: SMTPConnection;
  #sent = 0;
  #lose: (error: Error) => void = () => undefined;
  #isUsable = true;

  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.close();

  private constructor(server: SmtpServer, { clock, signal }: SessionParts) {
    const { host, port, isSecure, credentials } = server;
    this.#connection = new SMTPConnection({
      host,
      port,
      secure: isSecure,
      // A password must not be sent in clear text.
      requireTLS: credentials !== undefined && !isLoopback(host),
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
    });
    this.#connection.on('error', (error) => this.#fail(error as Error));
    // The error with the reason may follow immediately.
    this.#connection.on('end', () => {
      this.#isUsable = false;
      queueMicrotask(() => this.#lose(new Error('the connection was closed')));
    });
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  /** Connects and signs in; `signal` ends the session. Throws `MailTrouble` `unavailable`. */
  static async open(server: SmtpServer, parts: SessionParts): Promise<SmtpSession> {
    const session = new SmtpSession(server, parts);
    const { credentials } = server;
    try {
      await session.#step(OPEN_DEADLINE_MS, (done) => session.#connection.connect(done));
      if (credentials !== undefined)
        await session.#step(OPEN_DEADLINE_MS, (done) => session.#connection.login({ credentials }, done));
      return session;
    } catch (error) {
      session.close();
      throw new MailTrouble('unavailable', error as NodemailerError);
    }
  }

  /** Whether the connection has TLS. */
  get isEncrypted(): boolean {
    return this.#connection.secure;
  }

  /** Number of mails sent. */
  get sent(): number {
    return this.#sent;
  }

  /** False after any error. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Resolves when the server has accepted responsibility (RFC 5321 §4.2.5). Throws `MailTrouble`; then the session is not usable. */
  async send(envelope: { from: string; to: string }, message: Buffer): Promise<void> {
    let isBegun = false;
    // Read only when the server has requested the content.
    const body = Readable.from(
      (function* () {
        isBegun = true;
        yield message;
      })(),
    );
    this.#connection.lastServerResponse = false;
    try {
      await this.#step(SEND_DEADLINE_MS, (done) =>
        this.#connection.send({ from: envelope.from, to: [envelope.to] }, body, done),
      );
      this.#sent += 1;
    } catch (error) {
      const isOver = this.#signal.aborted;
      // MAIL FROM is answered first.
      const isSenderTaken = /^[23]/.test(String(this.#connection.lastServerResponse));
      this.close();
      const outcome = outcomeOf(error as NodemailerError, {
        isBegun,
        isSenderTaken: isSenderTaken && !isOver,
      });
      throw new MailTrouble(outcome, error as NodemailerError);
    }
  }

  /** Closes the connection; a mail under way fails. */
  close(): void {
    this.#end();
    this.#connection.close();
    this.#fail(new Error('the session was closed'));
  }

  /** Ends the session with QUIT if that is possible. */
  quit(): void {
    if (!this.#isUsable) return;
    this.#end();
    this.#connection.quit();
  }

  #end(): void {
    this.#isUsable = false;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  #fail(error: Error): void {
    this.#isUsable = false;
    this.#lose(error);
  }

  #step(deadlineMs: number, begin: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const deadline = this.#clock.after(deadlineMs, () => this.close());
      const finish = (error?: Error | null): void => {
        deadline.cancel();
        if (error) reject(error);
        else resolve();
      };
      this.#lose = finish;
      begin(finish);
    });
  }
}

/** RFC 3463 status, if the reply has one: `5.1.1`. */
const statusOf = ({ response }: NodemailerError): string | undefined =>
  /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1];

const isLost = ({ command, responseCode }: NodemailerError): boolean =>
  responseCode === undefined || responseCode === 421 || command === 'CONN';

/**
 * The result for the recipient that an error of a send proves. `isSenderTaken`: MAIL FROM was accepted, so the next reply is about the recipient.
 * `isBegun`: the server has some of the mail.
 */
function outcomeOf(
  error: NodemailerError,
  { isBegun, isSenderTaken }: { isBegun: boolean; isSenderTaken: boolean },
): MailTrouble['outcome'] {
  const { command, responseCode: reply } = error;
  if (reply === undefined) {
    if (isBegun) return 'unknown';
    return isSenderTaken ? 'deferred' : 'unavailable';
  }
  // MAIL FROM is about the sender.
  if (command === 'MAIL FROM') return 'unavailable';
  // The error does not say to which of the pipelined commands it belongs, but it is none before RCPT TO.
  if (isLost(error) || reply < 500) return 'deferred';
  // A relay that refuses our mail responds 5.7.1 to every address: that is not the fault of the address.
  if (command === 'RCPT TO' && /^5\.[12]\.|^$/.test(statusOf(error) ?? '')) return 'address_refused';
  return 'mail_refused';
}
