// The next state of an alert after each check. Pure: the store saves the result.
import { randomBytes } from 'node:crypto';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import type { AlertRule, AlertTrouble, OpenAlert } from '../domain/alert.ts';

/** After a longer time without a check, earlier findings prove nothing about the time between. */
const GAP_MS = 60_000;

const ID_BYTES = 12;

const ABSENT_WORDS = reasonWords('absent');

/** The alert after a check. Undefined if there is no trouble, or if one that was not raised has ended. */
export function afterCheck(
  alert: OpenAlert | undefined,
  seen: AlertTrouble | undefined,
  { isKnown, rule, now }: { isKnown: boolean; rule: AlertRule; now: Date },
): OpenAlert | undefined {
  const found = seen && withCause(seen, alert);
  if (alert === undefined) return found && pendingOrRaised(begun(found, now), rule, now);
  const goesOn = age(alert.seenAt, now) <= GAP_MS;
  if (alert.raisedAt !== null) {
    const open = { ...alert, seenAt: now, wellSince: null };
    if (found !== undefined) return { ...open, ...asItIs(alert, found, { goesOn, rule, now }) };
    if (!isKnown) return open;
    const wellSince = alert.wellSince ?? now;
    const isOver = age(wellSince, now) >= rule.recoverAfterMs;
    if (!isOver) return { ...open, worseSince: null, wellSince };
    return { ...open, summary: alert.cause ?? alert.summary, worseSince: null, wellSince, recoveredAt: now };
  }
  if (found === undefined) return undefined;
  const pending = { ...alert, ...found, reading: alert.reading, seenAt: now };
  const isDue = age(pending.since, now) >= rule.raiseAfterMs;
  const isNoWorse = found.reading !== null && found.reading <= (alert.reading ?? 0);
  if (!goesOn || (isDue && isNoWorse)) return { ...pending, since: now, reading: found.reading };
  return pendingOrRaised(pending, rule, now);
}

/** A modem that is started again says no more what it failed with. If it was not there, it is now. */
function withCause(found: AlertTrouble, before: OpenAlert | undefined): AlertTrouble {
  if (found.isRecovering !== true || before === undefined || before.summary.includes(ABSENT_WORDS))
    return found;
  return { ...found, summary: before.summary, advice: before.advice };
}

/** The present form of a raised trouble. It counts as critical after being so for as long as a trouble must last. */
function asItIs(
  alert: OpenAlert,
  found: AlertTrouble,
  { goesOn, rule, now }: { goesOn: boolean; rule: AlertRule; now: Date },
): Partial<OpenAlert> {
  const { severity, summary, advice } = found;
  const cause = causeOf(alert, found);
  const isWorse = severity === 'critical' && alert.severity === 'warning';
  if (!isWorse) return { severity, summary, advice, cause, worseSince: null };
  const worseSince = (goesOn ? alert.worseSince : null) ?? now;
  return age(worseSince, now) >= rule.raiseAfterMs
    ? { severity, summary, advice, cause: summary, worseSince: null }
    : { summary, advice, cause, worseSince };
}

/** A recovery that was under way at the raise named no cause. */
function causeOf({ cause }: OpenAlert, { isPassing, isRecovering, summary }: AlertTrouble): string | null {
  if (isRecovering === true) return cause;
  return isPassing === false ? summary : (cause ?? summary);
}

const age = (since: Date, now: Date): number => now.getTime() - since.getTime();

const begun = (found: AlertTrouble, now: Date): OpenAlert => ({
  ...found,
  id: `alert_${randomBytes(ID_BYTES).toString('hex')}`,
  since: now,
  seenAt: now,
  raisedAt: null,
  cause: null,
  worseSince: null,
  wellSince: null,
  recoveredAt: null,
});

const pendingOrRaised = (alert: OpenAlert, { raiseAfterMs }: AlertRule, now: Date): OpenAlert =>
  age(alert.since, now) >= raiseAfterMs
    ? { ...alert, raisedAt: now, cause: alert.isRecovering === true ? null : alert.summary }
    : { ...alert, raisedAt: null };
