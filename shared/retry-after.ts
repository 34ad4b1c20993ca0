// The header Retry-After (RFC 9110 §10.2.3): seconds, or a date. Pure.

const SECONDS = /^\d+(\.\d+)?$/;
/** The form that clients must send today; nothing sends the two older ones. */
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), .* GMT$/;

/** Returns how long to wait, ms; undefined if the header is absent, cannot be read, or is over. Without `now` no date can be read. */
export function retryAfterMsOf(header: string | null | undefined, now?: Date): number | undefined {
  if (header == null) return undefined;
  const ms = SECONDS.test(header)
    ? Number(header) * 1_000
    : now !== undefined && DATE.test(header)
      ? Date.parse(header) - now.getTime()
      : 0;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
