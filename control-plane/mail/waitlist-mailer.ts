// Mails the waitlist when the pool has opened: each entry once, from any instance.
import { sleep } from '#shared/clock.ts';
import type { Base } from '../bus/base.ts';
import type { MailSettings } from '../config/mail-options.ts';
import {
  afterAttempt,
  isHopeless,
  LOST_SESSIONS_MAX,
  type MailOutcome,
  pauseAfter,
} from '../domain/waitlist-mail.ts';
import { GracefulStop } from '../housekeeping/graceful-stop.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import {
  claimDue,
  type MailAttempt,
  noteGivenUp,
  noteNotified,
  noteRefused,
  noteRetry,
  releaseClaim,
} from '../store/messages/waitlist.ts';
import { composeOpeningMail } from './opening-mail.ts';
import { MailTrouble, SEND_DEADLINE_MS, SmtpSession } from './smtp-session.ts';

/** Longer than the mail that it is for, including connecting, with slack for clocks that differ. */
const LEASE_MS = 3 * SEND_DEADLINE_MS;

const NOTE_AGAIN_MS = 1_000;

/** Servers end sessions that last too long. */
const MAILS_A_SESSION = 50;

interface MailerParts extends MailSettings, Pick<Base, 'db' | 'clock' | 'log'> {
  serviceName: string;
  /** Without a trailing slash. */
  baseUrl: string;
}

export class WaitlistMailer {
  readonly #parts: MailerParts;
  #session: SmtpSession | undefined;
  readonly #stop = new GracefulStop();
  #troubles = 0;
  /** Lost sessions in a row. */
  #lostSessions = 0;
  #pausedUntil = 0;

  constructor(parts: MailerParts) {
    this.#parts = parts;
  }

  /** Mails all entries that are due, one after the other. */
  async round(): Promise<void> {
    const { db, clock, log } = this.#parts;
    if (clock.now() < this.#pausedUntil) return;
    let sent = 0;
    this.#lostSessions = 0;
    try {
      while (!this.#stop.ending.aborted) {
        const attempt = await claimDue(db, { now: new Date(clock.now()), leaseMs: LEASE_MS });
        if (attempt === undefined) break;
        const outcome = isHopeless(attempt.attempt) ? 'mail_refused' : await this.#try(attempt);
        emitMetric({ kind: 'mail_tried', outcome });
        await this.#note(attempt, outcome);
        if (outcome === 'sent') sent += 1;
        const isAway = outcome === 'unavailable' || outcome === 'unknown';
        if (isAway || this.#lostSessions >= LOST_SESSIONS_MAX) {
          this.#troubles += 1;
          this.#pausedUntil = clock.now() + pauseAfter(this.#troubles);
          break;
        }
        if (this.#lostSessions === 0) this.#troubles = 0;
      }
    } finally {
      this.#session?.quit();
      this.#session = undefined;
    }
    if (sent > 0) log.info({ mails: sent }, 'waitlist mailed: numbers are available');
  }

  /** Begins no further mail; the present one ends in a few seconds. `stopped`: the end of the rounds. */
  stop(stopped: Promise<unknown>): Promise<void> {
    return this.#stop.end(this.#parts.clock, () => stopped);
  }

  async #try(attempt: MailAttempt): Promise<MailOutcome> {
    const { clock, from, log, serviceName, baseUrl } = this.#parts;
    const { email, id, opening, unsubscribeToken } = attempt;
    const message = await composeOpeningMail({
      from,
      to: email,
      date: new Date(clock.now()),
      key: `waitlist.${id}.${opening}`,
      unsubscribeToken,
      serviceName,
      baseUrl,
    });
    try {
      const session = await this.#openSession();
      await session.send({ from: from.address, to: email }, message);
      this.#lostSessions = 0;
      return 'sent';
    } catch (error) {
      if (!(error instanceof MailTrouble)) throw error;
      this.#lostSessions = error.isSessionLost ? this.#lostSessions + 1 : 0;
      log.warn(
        { entry: id, attempt: attempt.attempt, outcome: error.outcome, ...error.details },
        'waitlist mail not accepted',
      );
      return error.outcome;
    }
  }

  async #openSession(): Promise<SmtpSession> {
    if (this.#session?.isUsable === true && this.#session.sent < MAILS_A_SESSION) return this.#session;
    this.#session?.quit();
    this.#session = await SmtpSession.open(this.#parts.server, {
      clock: this.#parts.clock,
      signal: this.#stop.aborting,
    });
    return this.#session;
  }

  async #note(attempt: MailAttempt, outcome: MailOutcome): Promise<void> {
    const { db, clock } = this.#parts;
    const next = afterAttempt(outcome, attempt.attempt);
    const now = clock.now();
    const maybeSentAt = outcome === 'unknown' ? new Date(now) : undefined;
    switch (next.step) {
      case 'done':
        return this.#noteSent(attempt);
      case 'forget_address':
        return noteRefused(db, attempt);
      case 'wait_for_next_opening':
        return noteGivenUp(db, attempt, maybeSentAt);
      case 'release':
        return releaseClaim(db, attempt);
      case 'retry':
        return noteRetry(db, attempt, { retryAt: new Date(now + next.afterMs), maybeSentAt });
    }
  }

  /** Until this is stored the mail may be sent again, so it waits for a database that is unavailable for a moment. */
  async #noteSent(attempt: MailAttempt): Promise<void> {
    const { db, clock } = this.#parts;
    const sentAt = clock.now();
    for (;;) {
      try {
        return await noteNotified(db, attempt, new Date(sentAt));
      } catch (error) {
        if (this.#stop.aborting.aborted || clock.now() - sentAt >= LEASE_MS) throw error;
        await sleep(clock, NOTE_AGAIN_MS, this.#stop.aborting);
      }
    }
  }
}
