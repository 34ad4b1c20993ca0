// Finds the one-time code in a received text. Pure. A wrong code costs more than none, so anything doubtful is null.
import {
  ANNOUNCEMENT,
  ENTER_BEFORE,
  LABEL_BEFORE,
  MARKETING,
  OTHER_CODE_AFTER,
  OTHER_CODE_BEFORE,
  UNIT_AFTER,
} from './code-words.ts';
import { originBoundCodeOf } from './origin-bound-code.ts';

interface OneTimeCode {
  /** As it is typed into a form: ASCII digits, without the spaces and dashes of the text. Null if there is none, or it is not certain which. */
  code: string | null;
  /** The web site that the code is for, such as "https://example.com". Only an origin-bound code has one. */
  origin: string | null;
  embeddedOrigin: string | null;
}

/** Texts with codes are shorter. It bounds the work for a text of 40,000 characters. */
const TEXT_MAX = 1_000;
/** Characters between an announcement and its code. */
const GAP_MAX = 60;
/** Beyond it is no certainty which number is the code; and each is compared with each. */
const NUMBERS_MAX = 30;

interface Candidate {
  code: string;
  start: number;
  end: number;
}

interface Announcement {
  start: number;
  end: number;
}

export function oneTimeCodeOf(body: string): OneTimeCode {
  const bound = originBoundCodeOf(body);
  if (bound !== undefined) return bound;
  return { code: guessedCodeOf(body), origin: null, embeddedOrigin: null };
}

function guessedCodeOf(body: string): string | null {
  if (body.length > TEXT_MAX) return null;
  const text = plainText(body);
  const announcements = announcementsIn(text);
  if (announcements.length === 0) return null;
  const candidates = candidatesIn(text);
  const near = candidates.filter(
    (candidate) =>
      ENTER_BEFORE.test(text.slice(Math.max(0, candidate.start - 30), candidate.start)) ||
      isAnnounced(text, candidate, announcements, candidates),
  );
  if (
    near.some(({ end }) =>
      candidates.some((next) => next.start > end && LIST.test(text.slice(end, next.start))),
    )
  )
    return null;
  const codes = new Set((near.length > 0 ? near : alone(text, candidates)).map(({ code }) => code));
  const [code] = codes;
  return codes.size === 1 && code !== undefined ? code : null;
}

/** Invisible characters that set directions or break words, which senders put around codes. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c]/gu;
const SPACES = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu;
const DASHES = /[\u2010-\u2015\u2212\uff0d]/gu;
/** Letters, digits and the colon; a full-width comma ends a number. */
const FULL_WIDTH = /[\uff10-\uff1a\uff21-\uff3a\uff41-\uff5a]/gu;
const DIGIT = /\p{Nd}/gu;

function plainText(body: string): string {
  return body
    .replace(INVISIBLE, '')
    .replace(SPACES, ' ')
    .replace(DASHES, '-')
    .replace(FULL_WIDTH, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) - 0xfee0))
    .replace(DIGIT, asciiDigit);
}

/** Digits that were met, and the same in ASCII: Unicode has some hundreds. */
const ASCII_DIGITS = new Map<string, string>();

function asciiDigit(char: string): string {
  if (char <= '9') return char;
  const known = ASCII_DIGITS.get(char);
  if (known !== undefined) return known;
  const digit = readDigit(char);
  ASCII_DIGITS.set(char, digit);
  return digit;
}

/** The digits of a script are ten in a row (Unicode, property Nd), from zero. */
function readDigit(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  let zero = point;
  while (point - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((point - zero) % 10);
}

function announcementsIn(text: string): Announcement[] {
  return [...text.matchAll(ANNOUNCEMENT)].flatMap(({ 0: word, index }) => {
    const end = index + word.length;
    const isOther =
      OTHER_CODE_BEFORE.test(text.slice(Math.max(0, index - 20), index)) ||
      OTHER_CODE_AFTER.test(text.slice(end, end + 24));
    return isOther ? [] : [{ start: index, end }];
  });
}

/** "123456", "123 456", "123-456", "12 34 56"; "G-123456"; "A1B2C3". Nothing touches it that would make it part of something longer. */
const NUMBER =
  /(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}])(?:[A-Z]{1,3}-)?(\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d{2} \d{2} \d{2}|\d{2}-\d{2}-\d{2}|\d{4,10})(?![A-Za-z\d])/gu;
const MIXED =
  /(?<![\p{Script=Latin}\p{N}])(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,10}(?![\p{Script=Latin}\p{N}])/gu;
const SPLIT_MIXED = /(?<![\p{L}\p{N}-])[A-Z\d]{3,4}-[A-Z\d]{3,4}(?![\p{L}\p{N}-])/gu;

/** Before and after a number that is part of an amount, a date, a telephone number, an address or a web page. */
const PART_BEFORE = /(?:\d[.,:/'-]|[+$€£¥₹₽₩₺₪*•]|[\d)] ?[-.]?|[/=?&_@]|https?:\S*|www\.\S*|\d )$/u;
const PART_AFTER = /^(?:[.,:/'-]\d|[-/_@=&]|[ ]?[\d*•]|\.[a-z])/u;
const YEAR = /^(?:19|20)\d\d$/;
/** "code 2026", "code is: 2026" */
const DIRECTLY_AFTER = /^(?: is| ist| es| est| é| è|は|是|为|為| هو)?(?: ?[:=])? ?$/iu;

function candidatesIn(text: string): Candidate[] {
  const found: Candidate[] = [];
  const mixed = MARKETING.test(text) ? [] : [...text.matchAll(MIXED), ...text.matchAll(SPLIT_MIXED)];
  const matches = [...text.matchAll(NUMBER), ...mixed];
  if (matches.length > NUMBERS_MAX) return [];
  for (const match of matches) {
    const [whole, digits] = match;
    const code = (digits ?? whole).replaceAll(/[ -]/g, '');
    const start = match.index;
    const end = start + whole.length;
    if (
      /\d/.test(code) &&
      !isPart(text, start, end) &&
      found.every((other) => end <= other.start || start >= other.end)
    )
      found.push({ code, start, end });
  }
  return found.sort((a, b) => a.start - b.start);
}

function isPart(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  const after = text.slice(end, end + 24);
  return (
    PART_BEFORE.test(before) || PART_AFTER.test(after) || UNIT_AFTER.test(after) || LABEL_BEFORE.test(before)
  );
}

/** Between two codes of a list. */
const LIST = /^ ?(?:[,;/|&、،]|or|and|o|y|ou|et|oder|und|e|или|и|或|和|أو|و) ?$/iu;

/** Whether a word for a code stands near, in the same sentence, with no other number between. */
function isAnnounced(
  text: string,
  { code, start, end }: Candidate,
  announcements: readonly Announcement[],
  candidates: readonly Candidate[],
): boolean {
  const isFree = (from: number, to: number): boolean =>
    !candidates.some((other) => other.start >= from && other.end <= to);
  return announcements.some((word) => {
    if (start - word.end > GAP_MAX || word.start - end > GAP_MAX) return false;
    if (word.end <= start) {
      const gap = text.slice(word.end, start);
      if (YEAR.test(code)) return DIRECTLY_AFTER.test(gap);
      return !ENDS.test(gap) && isFree(word.end, start);
    }
    if (word.start < end || YEAR.test(code)) return false;
    const gap = text.slice(end, word.start);
    return !ENDS.test(gap) && !/[,;，；、،]/u.test(gap) && isFree(end, word.start);
  });
}

/** A sentence ends. A line end does not: the code is often on the next line. */
const ENDS = /[.!?](?:\s|$)|[。！？؟]|\n\s*\n.*\n\s*\n/su;

/** The only number of the text, with a usual length, first or on a line of its own: "482913\nUse this to verify". */
function alone(text: string, candidates: readonly Candidate[]): Candidate[] {
  const [only, other] = candidates;
  if (only === undefined || other !== undefined || !/^\d{4,8}$/.test(only.code) || YEAR.test(only.code))
    return [];
  const isFirst = text.slice(0, only.start).trim() === '';
  const lineBefore = text.slice(text.lastIndexOf('\n', only.start - 1) + 1, only.start).trim();
  const lineAfter = text.slice(only.end).split('\n')[0]?.trim();
  return isFirst || (lineBefore === '' && (lineAfter === '' || lineAfter === '.')) ? [only] : [];
}
