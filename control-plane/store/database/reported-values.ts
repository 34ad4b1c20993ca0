// Texts and times that a node reports, as the store can hold them.

/** UCS-2 texts and modem names may contain U+0000 and unpaired surrogates, which text and JSON in Postgres cannot store. */
export const storableText = (text: string): string =>
  text.replaceAll('\u0000', '\ufffd').replace(/\p{Cs}/gu, '\ufffd');

/** A time of a node, whose clock may be ahead: at most `now`, and not before the epoch, as no receipt can state such a time. */
export function reportedTime(text: string, now: Date): Date;
export function reportedTime(text: string | null, now: Date): Date | null;
export function reportedTime(text: string | null, now: Date): Date | null {
  return text === null ? null : new Date(Math.max(0, Math.min(Date.parse(text), now.getTime())));
}
