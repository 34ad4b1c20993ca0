// Addresses that want a mail when numbers are available again: one row per mailbox, deleted when it unsubscribes. Also the addresses that
// had a mail within a week.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { MAIL_INTERVAL_MS } from '../../domain/waitlist-mail.ts';
import type { Database } from '../database/database.ts';

const ID_BYTES = 12;
const TOKEN_BYTES = 24;

const randomText = (bytes: number): string => randomBytes(bytes).toString('base64url');

/**
 * The mailbox of an address. RFC 5321 §2.4 lets a host distinguish `Ann@` from `ann@`; no host does. Most hosts deliver `ann+shop@` to `ann@`
 * (RFC 5233), and Gmail ignores dots in the name: a stranger can invent any number of spellings.
 */
function mailboxOf(email: string): string {
  const mailbox = email.toLowerCase().replace(/^([^@]+?)\+[^@]*@/, '$1@');
  const [, name, isGmail] = /^([^@]+)@(gmail|googlemail)\.com$/.exec(mailbox) ?? [];
  return name === undefined || isGmail === undefined ? mailbox : `${name.replaceAll('.', '')}@gmail.com`;
}

/**
 * Puts an address on the list for openings after `opening`, and returns when its mailbox was first there. A waiting mailbox keeps its place;
 * one that was mailed waits again. The mail goes to the spelling that was entered first.
 */
export async function register(
  db: Database,
  { email, opening, now }: { email: string; opening: number; now: Date },
): Promise<Date> {
  const isWaiting = sql`waitlist.state = 'waiting'`;
  const emailKey = mailboxOf(email);
  const row = await db
    .insertInto('waitlist')
    .values({
      id: randomText(ID_BYTES),
      email,
      email_key: emailKey,
      unsubscribe_token: randomText(TOKEN_BYTES),
      registered_at: now,
      state: 'waiting',
      after_opening: opening,
      notified_at: sql<Date | null>`(
        select mailed_at from waitlist_mailed where email_hash = ${hashOf(sql`${emailKey}::text`)}
      )`,
    })
    .onConflict((conflict) =>
      conflict.column('email_key').doUpdateSet({
        state: 'waiting',
        after_opening: sql`case when ${isWaiting} then waitlist.after_opening else excluded.after_opening end`,
      }),
    )
    .returning('registered_at')
    .executeTakeFirstOrThrow();
  return row.registered_at;
}

/**
 * Deletes the address of a mail's link, if it is still there. For the rest of a week after its last mail a hash stays, so that registering
 * again does not bring an earlier mail.
 */
export async function unsubscribe(db: Database, token: string, now: Date): Promise<void> {
  await sql`
    with gone as (
      delete from waitlist where unsubscribe_token = ${token} returning email_key, notified_at
    )
    insert into waitlist_mailed (email_hash, mailed_at)
    select ${hashOf(sql.ref('email_key'))}, notified_at from gone where notified_at > ${intervalBefore(now)}
    on conflict (email_hash) do update set mailed_at = excluded.mailed_at`.execute(db);
}

export async function deleteOldMailed(db: Database, now: Date): Promise<void> {
  await db.deleteFrom('waitlist_mailed').where('mailed_at', '<=', intervalBefore(now)).execute();
}

const intervalBefore = (now: Date): Date => new Date(now.getTime() - MAIL_INTERVAL_MS);

const hashOf = (emailKey: unknown) => sql<string>`encode(sha256(convert_to(${emailKey}, 'UTF8')), 'hex')`;

/** One attempt to mail an entry about an opening. */
export interface MailAttempt {
  id: string;
  email: string;
  unsubscribeToken: string;
  opening: number;
  /** From 1. */
  attempt: number;
}

/**
 * Leases the first entry that is due, for `leaseMs`. Another instance may take it after the lease if no result was recorded. No entry is
 * due while the pool is empty, nor within a week of its last mail. All attempts for one opening count as one mail.
 */
export async function claimDue(
  db: Database,
  { now, leaseMs }: { now: Date; leaseMs: number },
): Promise<MailAttempt | undefined> {
  const claimedUntil = new Date(now.getTime() + leaseMs);
  const { rows } = await sql<MailAttempt>`
    with due as materialized (
      select waitlist.id, pool.opening from waitlist cross join pool
      where pool.is_open and state = 'waiting' and after_opening < pool.opening
        and (claimed_until is null or claimed_until <= ${now})
        and (mail_opening is distinct from pool.opening or retry_at is null or retry_at <= ${now})
        and (mail_opening = pool.opening or notified_at is null or notified_at <= ${intervalBefore(now)}
          or notified_at > ${new Date(now.getTime() + MAIL_INTERVAL_MS)})
      order by registered_at, waitlist.id limit 1 for update of waitlist skip locked
    )
    update waitlist
    set mail_opening = due.opening, claimed_until = ${claimedUntil}, retry_at = null,
      attempts = case when mail_opening = due.opening then attempts + 1 else 1 end
    from due where waitlist.id = due.id
    returning waitlist.id, email, unsubscribe_token as "unsubscribeToken", due.opening,
      attempts as attempt`.execute(db);
  return rows[0];
}

/** The server has accepted the mail: the entry is done. */
export async function noteNotified(db: Database, { id, opening }: MailAttempt, now: Date): Promise<void> {
  // Even if the lease has expired: the mail is out.
  await db
    .updateTable('waitlist')
    .set({ state: 'notified', notified_at: now, claimed_until: null })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('mail_opening', '=', opening)
    .execute();
}

/** The server does not know the address: it gets no mail until it registers again. */
export const noteRefused = (db: Database, attempt: MailAttempt): Promise<void> =>
  endClaim(db, attempt, { state: 'refused' });

/** Gives up on this opening. `maybeSentAt`: when the server may have accepted a mail. */
export const noteGivenUp = (db: Database, attempt: MailAttempt, maybeSentAt?: Date): Promise<void> =>
  endClaim(db, attempt, { after_opening: attempt.opening, ...notified(maybeSentAt) });

export const noteRetry = (
  db: Database,
  attempt: MailAttempt,
  { retryAt, maybeSentAt }: { retryAt: Date; maybeSentAt?: Date | undefined },
): Promise<void> => endClaim(db, attempt, { retry_at: retryAt, ...notified(maybeSentAt) });

const notified = (at: Date | undefined): { notified_at?: Date } =>
  at === undefined ? {} : { notified_at: at };

/** The attempt did not begin, and does not count. */
export const releaseClaim = (db: Database, attempt: MailAttempt): Promise<void> =>
  endClaim(db, attempt, { attempts: attempt.attempt - 1 });

/** Unless another instance has claimed it since. */
async function endClaim(
  db: Database,
  { id, opening, attempt }: MailAttempt,
  change: {
    state?: 'refused';
    after_opening?: number;
    retry_at?: Date;
    attempts?: number;
    notified_at?: Date;
  },
): Promise<void> {
  await db
    .updateTable('waitlist')
    .set({ ...change, claimed_until: null })
    .where('id', '=', id)
    .where('mail_opening', '=', opening)
    .where('attempts', '=', attempt)
    .where('claimed_until', 'is not', null)
    .execute();
}
