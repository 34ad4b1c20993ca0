// Keywords with which a recipient stops further texts, or allows them again: 47 CFR 64.1200(a)(10), CTIA Messaging Principles and Best
// Practices, and the keywords that carriers and message providers in the US accept. Pure.
import { isE164 } from '#shared/identities.ts';

/** `yes` allows texts again only for a recipient that has stopped them. */
type OptOutKeyword = 'stop' | 'start' | 'yes';

/** The effect of a received keyword. */
export type OptOutType = Exclude<OptOutKeyword, 'yes'>;

const KEYWORDS: Readonly<Record<string, OptOutKeyword>> = {
  STOP: 'stop',
  STOPALL: 'stop',
  UNSUBSCRIBE: 'stop',
  CANCEL: 'stop',
  END: 'stop',
  QUIT: 'stop',
  OPTOUT: 'stop',
  REVOKE: 'stop',
  START: 'start',
  UNSTOP: 'start',
  YES: 'yes',
};

/** Longer than each keyword with generous punctuation. */
const BODY_MAX = 64;

/**
 * The keyword that a text consists of, without regard to letter case, spaces and punctuation; undefined for any other text. Below a keyword
 * that stops texts, there may be other lines, such as a signature. A keyword that allows texts is the whole text: "Yes" may begin an answer.
 */
export function optOutKeywordOf(body: string): OptOutKeyword | undefined {
  const text = body.trim();
  const keyword = keywordOf(text);
  if (keyword !== undefined) return keyword;
  const [firstLine = ''] = text.split(/[\n\r\u2028\u2029]/, 1);
  return keywordOf(firstLine.trim()) === 'stop' ? 'stop' : undefined;
}

function keywordOf(text: string): OptOutKeyword | undefined {
  if (text.length > BODY_MAX) return undefined;
  const word = text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();
  return Object.hasOwn(KEYWORDS, word) ? KEYWORDS[word] : undefined;
}

/**
 * A form in which a sender's and a recipient's number compare: E.164. Some carriers report US senders without the country code. A short
 * code stays as it is; a name is compared without regard to letter case.
 */
export function peerKeyOf(peer: string): string {
  const name = peer.trim();
  const digits = name.replace(/[\s().-]/g, '');
  if (isE164(digits)) return digits;
  if (/^1[2-9]\d{2}[2-9]\d{6}$/.test(digits)) return `+${digits}`;
  if (/^[2-9]\d{2}[2-9]\d{6}$/.test(digits)) return `+1${digits}`;
  return name.toUpperCase();
}
