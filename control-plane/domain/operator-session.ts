// Lifetimes of an operator's console session. Pure.

const HOUR_MS = 60 * 60 * 1000;

/** Lifetime without opening a page or performing an action. */
const SESSION_IDLE_MS = 12 * HOUR_MS;

/** Maximum lifetime. */
export const SESSION_LIFETIME_MS = 7 * 24 * HOUR_MS;

/** Sessions that were last used, or that began, before these times are over. */
export const sessionLimitsAt = (now: Date): { usedAfter: Date; createdAfter: Date } => ({
  usedAfter: new Date(now.getTime() - SESSION_IDLE_MS),
  createdAfter: new Date(now.getTime() - SESSION_LIFETIME_MS),
});
