// Keys and sessions of operators of the console: 256 random bits behind a prefix that secret scanners can find. Only the hash is stored.
import { createHash, createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'simrack_operator_';
const KEY_PATTERN = /^simrack_operator_[A-Za-z0-9_-]{43}$/;
const SESSION_PATTERN = /^[A-Za-z0-9_-]{43}$/;

const randomText = (): string => randomBytes(32).toString('base64url');

/** A new key. It is shown once and never stored. */
export const mintOperatorKey = (): string => PREFIX + randomText();

export const isOperatorKey = (text: string): boolean => KEY_PATTERN.test(text);

/** The session token of a browser, which stands for the key for a while. */
export const mintSession = (): string => randomText();

export const isSession = (text: string): boolean => SESSION_PATTERN.test(text);

/** SHA-256 of a key or a session, as stored. Both are random, so no salt is needed. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** The token in the forms of a session: a page of another site cannot know it. */
export const formTokenOf = (session: string): string =>
  createHmac('sha256', session).update('form').digest('base64url');

const HOUR_MS = 60 * 60 * 1000;

/** Lifetime of a session without opening a page or performing an action. */
const SESSION_IDLE_MS = 12 * HOUR_MS;

/** Maximum lifetime. */
export const SESSION_LIFETIME_MS = 7 * 24 * HOUR_MS;

/** Sessions that were last used, or that began, before these times are over. */
export const sessionLimitsAt = (now: Date): { usedAfter: Date; createdAfter: Date } => ({
  usedAfter: new Date(now.getTime() - SESSION_IDLE_MS),
  createdAfter: new Date(now.getTime() - SESSION_LIFETIME_MS),
});
