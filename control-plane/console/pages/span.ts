// The spans of time that plots show.
import type { Span } from '../../store/operations/samples.ts';

const MINUTE_MS = 60_000;

const RANGES = {
  hour: { lengthMs: 60 * MINUTE_MS, stepMs: MINUTE_MS },
  day: { lengthMs: 24 * 60 * MINUTE_MS, stepMs: 10 * MINUTE_MS },
  week: { lengthMs: 7 * 24 * 60 * MINUTE_MS, stepMs: 60 * MINUTE_MS },
} as const;

export type Range = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as [Range, ...Range[]];

/** In whole steps, but for the last one: it is under way, up to the last minute that is over. */
export function spanOf(range: Range, nowMs: number): Span {
  const { lengthMs, stepMs } = RANGES[range];
  const until = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const since = Math.ceil((until - lengthMs) / stepMs) * stepMs;
  return { since: new Date(since), until: new Date(until), stepMs };
}
