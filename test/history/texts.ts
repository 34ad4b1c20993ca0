// Texts that say who they are, part by part, and fill a chosen number of short messages to the last unit.
import type { Random } from './random.ts';

export const ALPHABETS = ['gsm7', 'ucs2', 'emoji'] as const;
type Alphabet = (typeof ALPHABETS)[number];

/** A text and how it is cut on the air; joined, the parts are the text. */
export interface PlannedText {
  text: string;
  parts: readonly string[];
}

/** Which part of which message a piece of text is. */
interface Mark {
  key: string;
  part: number;
  total: number;
}

/**
 * Units of one message, and of one part of a longer one, by the bits of its reference: septets for the
 * 7 bit alphabet, UTF-16 units otherwise (3GPP TS 23.040 §9.2.3.24.1, §9.2.3.24.8).
 */
const UNITS = {
  septets: { single: 160, parts: { 8: 153, 16: 152 } },
  ucs2: { single: 70, parts: { 8: 67, 16: 66 } },
} as const;

/** A part has room for its mark and some text. */
const PART_UNITS_MIN = 30;

// 3GPP TS 23.038 §6.2.1: one septet each, then those of §6.2.1.1 with two.
const SEPTETS_1 = [...'@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"%&\'()*+,-.;<=>?¡ABCXYZÄÖÑÜ§¿abcxyzäöñüà\n'];
const SEPTETS_2 = [...'^{}\\[~]|€'];
const UCS2_1 = [...'Ждём你好नमस्तेשלוםñ漢字かな\u200d–“”\n ab'];
const UCS2_2 = [...'😀👋🏽🏴𝔘🧪'];

const SHOWN = /([io]\d+(?:\.\d+)?#\d+):(\d+)\/(\d+) /g;

/**
 * A text of `total` parts. Each part begins with its mark, `<key>:<part>/<total> `, but for one character of
 * two units where that did not fit at the end of the part before.
 */
export function plannedText(
  random: Random,
  what: { key: string; alphabet: Alphabet; total: number; referenceBits: 8 | 16 },
): PlannedText {
  const { key, alphabet, total, referenceBits } = what;
  const units = alphabet === 'gsm7' ? UNITS.septets : UNITS.ucs2;
  const capacity = total === 1 ? units.single : units.parts[referenceBits];
  const parts: string[] = [];
  let carried = '';
  for (let part = 1; part <= total; part += 1) {
    const isLast = part === total;
    const wanted = isLast && random.chance(0.8) ? random.integer(PART_UNITS_MIN, capacity) : capacity;
    const splits = !isLast && random.chance(0.3);
    // One character says which alphabet the whole text needs.
    const sign = alphabet !== 'gsm7' && part === 1 ? 'я' : '';
    const mark = `${carried}${key}:${part}/${total} ${sign}`;
    const used = mark.length + (alphabet === 'gsm7' ? carried.length : 0);
    parts.push([mark, filling(random, alphabet, wanted - used - (splits ? 1 : 0))].join(''));
    carried = splits ? random.pick(alphabet === 'gsm7' ? SEPTETS_2 : UCS2_2) : '';
  }
  return { text: parts.join(''), parts };
}

/** The marks in a text, in their order; none when it belongs to no message. */
export function marksOf(text: string): Mark[] {
  return [...text.matchAll(SHOWN)].map(([, key = '', part, total]) => ({
    key,
    part: Number(part),
    total: Number(total),
  }));
}

/** The message that a text belongs to by its first mark; `undefined` when it belongs to none. */
export const keyOf = (text: string): string | undefined => marksOf(text)[0]?.key;

function filling(random: Random, alphabet: Alphabet, units: number): string {
  const [ones, twos] = alphabet === 'gsm7' ? [SEPTETS_1, SEPTETS_2] : [UCS2_1, UCS2_2];
  const share = alphabet === 'emoji' ? 0.5 : alphabet === 'gsm7' ? 0.05 : 0;
  // Joined at once: a text that grows by characters is kept as a tree of them.
  const characters: string[] = [];
  for (let left = units; left > 0; ) {
    const isTwo = left >= 2 && random.chance(share);
    characters.push(random.pick(isTwo ? twos : ones));
    left -= isTwo ? 2 : 1;
  }
  return characters.join('');
}
