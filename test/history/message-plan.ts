// Which messages a run has, as a pure function of its seed: any message can be asked for, in any order.
import { type Random, randomOf } from './random.ts';
import { ALPHABETS, type PlannedText, plannedText } from './texts.ts';

/** A text from outside to a SIM of the rack. */
interface PlannedInbound extends PlannedText {
  key: string;
  from: string;
  referenceBits: 8 | 16;
}

/** A text that a subscriber sends; `toModem` is the recipient's place in the rack, if it has one. */
interface PlannedOutbound extends PlannedText {
  key: string;
  to: string;
  toModem: number | undefined;
}

export interface MessagePlan {
  /** Message `index` to modem `modem`, both from 0. A repetition is equal to an earlier one, key and all. */
  inbound(modem: number, index: number): PlannedInbound;
  /** Message `index` of modem `modem`, both from 0. No two are equal. */
  outbound(modem: number, index: number): PlannedOutbound;
}

/** Regular senders of each number: the order of their texts is checked. */
const SENDERS = 6;
const REPEATED = 0.03;
/** How far back the text lies that is sent again: right before, or seconds ago. */
const REPEATED_BACK_MAX = 12;
const TO_SIMS = 0.25;
const OUTSIDE_NUMBERS = 40;
/** The service must allow as many. */
export const SEGMENTS_MAX = 5;

/** `numbers` are those of the rack, by modem. */
export function messagePlan(seed: number, numbers: readonly string[]): MessagePlan {
  const original = (modem: number, index: number): PlannedInbound => {
    const random = randomOf(seed, 'inbound', modem, index);
    const total = partsOf(random);
    const referenceBits = random.chance(0.5) ? 8 : 16;
    // 8 bit references come round within seconds here: such a sender writes once, so that no two of its
    // messages can be taken for one.
    const writesOnce = total > 1 && referenceBits === 8;
    const sender = writesOnce ? 100 + index : random.integer(0, SENDERS - 1);
    const key = `i${modem}.${sender}#${index}`;
    const planned = plannedText(random, { key, alphabet: random.pick(ALPHABETS), total, referenceBits });
    return { ...planned, key, from: senderOf(modem, sender), referenceBits };
  };
  const repeats = (modem: number, index: number): number => {
    const random = randomOf(seed, 'repetition', modem, index);
    if (!random.chance(REPEATED)) return 0;
    return Math.min(index, random.chance(0.4) ? 1 : random.integer(2, REPEATED_BACK_MAX));
  };
  return {
    inbound(modem, index) {
      const back = repeats(modem, index);
      const isFirst = back === 0 || repeats(modem, index - back) !== 0;
      return original(modem, isFirst ? index : index - back);
    },
    outbound(modem, index) {
      const random = randomOf(seed, 'outbound', modem, index);
      const toModem = random.chance(TO_SIMS) ? random.integer(0, numbers.length - 1) : undefined;
      const outside = `+1310555${String(4000 + random.integer(0, OUTSIDE_NUMBERS - 1))}`;
      const to = (toModem === undefined ? undefined : numbers[toModem]) ?? outside;
      const key = `o${modem}#${index}`;
      const alphabet = random.pick(ALPHABETS);
      return {
        ...plannedText(random, { key, alphabet, total: partsOf(random), referenceBits: 8 }),
        key,
        to,
        toModem,
      };
    },
  };
}

/** Most messages are short; some need up to five parts. */
const partsOf = (random: Random): number => (random.chance(0.75) ? 1 : random.integer(2, SEGMENTS_MAX));

/** Numbers, a name and a short code: what may stand where a sender stands. */
function senderOf(modem: number, sender: number): string {
  if (sender === 0) return `Bank ${modem}`;
  if (sender === 1) return String(70000 + modem);
  return `+1415${String(2000000 + modem * 100_000 + sender).padStart(7, '0')}`;
}
