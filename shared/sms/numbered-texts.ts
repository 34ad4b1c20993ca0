// Splits a long text into numbered texts of one segment each: "(1/3) …". For clients, since the service sends one segment.
import { septetsOfChar } from './gsm7-alphabet.ts';
import { SEGMENT_UNITS, type Segmentation, segmentText } from './segmentation.ts';

/** Carriers take a longer series for spam, and people do not read it. */
export const TEXTS_MAX = 20;

/** The number of a text with two digits each way. */
const LONGEST_NUMBER = '(20/20) ';

/** A cut is moved back to a space by at most this share of a text. */
const MOVED_SHARE = 0.3;

export interface NumberedTexts {
  readonly encoding: Segmentation['encoding'];
  /** In order; the only one has no number. */
  readonly texts: readonly string[];
}

/**
 * Splits at spaces where it can, and never inside an escape pair or a surrogate pair. The white space at a cut is dropped. Throws `RangeError` if the
 * text needs more than `textsMax` texts.
 */
export function numberedTexts(text: string, textsMax = TEXTS_MAX): NumberedTexts {
  const { encoding, segments } = segmentText(text);
  if (segments.length === 1) return { encoding, texts: [text] };
  // The number of texts changes the width of the numbers only from 9 to 10 and from 99 to 100.
  for (const digits of [1, 2, 3]) {
    const width = '(/) '.length + 2 * digits;
    const pieces = piecesOf(text, encoding, SEGMENT_UNITS[encoding].single - width);
    if (String(pieces.length).length > digits) continue;
    if (pieces.length > textsMax) break;
    return { encoding, texts: pieces.map((piece, index) => `(${index + 1}/${pieces.length}) ${piece}`) };
  }
  const hold = (of: Segmentation['encoding']): string =>
    (textsMax * (SEGMENT_UNITS[of].single - LONGEST_NUMBER.length)).toLocaleString('en-US');
  const ifPlain = encoding === 'gsm7' ? '' : ` (${hold('gsm7')} if all are GSM 7-bit)`;
  throw new RangeError(`too long: ${textsMax} texts hold about ${hold(encoding)} characters${ifPlain}`);
}

function piecesOf(text: string, encoding: Segmentation['encoding'], unitsMax: number): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const end = endOfPiece(rest, encoding, unitsMax);
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return pieces;
}

/** The length of the first piece in UTF-16 units. */
function endOfPiece(text: string, encoding: Segmentation['encoding'], unitsMax: number): number {
  let units = 0;
  let end = 0;
  for (const char of text) {
    units += encoding === 'gsm7' ? (septetsOfChar(char)?.length ?? 0) : char.length;
    if (units > unitsMax) break;
    end += char.length;
  }
  if (end === text.length || /\s/.test(text[end] ?? '')) return end;
  const space = Math.max(text.lastIndexOf(' ', end - 1), text.lastIndexOf('\n', end - 1));
  return space > end * (1 - MOVED_SHARE) ? space : end;
}
