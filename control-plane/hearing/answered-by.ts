// The answerer of a call, as its client reads it. Pure.
import type { Answerer, AskedAnswerer } from '#shared/voice/call.ts';

/** Null while it is not judged, or if the call was not answered or the client did not ask. A call that ended before it was judged is `unknown`. */
export function shownAnswerer(call: {
  answeredBy: AskedAnswerer | null;
  answeredAt: Date | null;
  hasEnded: boolean;
}): Answerer | null {
  if (call.answeredBy !== 'undecided') return call.answeredBy;
  return call.hasEnded && call.answeredAt !== null ? 'unknown' : null;
}
