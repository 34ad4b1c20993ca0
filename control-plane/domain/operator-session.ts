// How long an operator stays signed in to the console. Pure.

const HOUR_MS = 60 * 60 * 1000;

/** Without a page that is opened, or an action. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;

/** In all. */
export const SESSION_LIFETIME_MS = 7 * 24 * HOUR_MS;

/** Sessions that were used last, or began, before that are over. */
export const sessionLimitsAt = (now: Date): { usedAfter: Date; createdAfter: Date } => ({
  usedAfter: new Date(now.getTime() - SESSION_IDLE_MS),
  createdAfter: new Date(now.getTime() - SESSION_LIFETIME_MS),
});
