// Enters a PIN: a wrong one at most once, even across restarts and kills, and never with the last attempt.
import { createHash } from 'node:crypto';
import type { Logger } from '#shared/log.ts';
import { ask } from '../../at/ask.ts';
import { AtError, CmeError, isUnanswered } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand, quoted } from '../../at/command.ts';
import type { Journal } from '../../journal/journal.ts';
import type { PinRecord } from '../../journal/record.ts';
import type { PinTriesQuery } from '../../profiles/profile.ts';

/** A wrong PIN at the last attempt would lock the card with its PUK. */
const TRIES_LEFT_MIN = 2;
/** All attempts of a card (3GPP TS 31.102 §5.1.1 with ETSI TS 102 221 §9.5.1). With all of them left, it has seen no wrong PIN. */
const TRIES_WHOLE = 3;
/** SIM busy: the card did not get the PIN (3GPP TS 27.007 §9.2.1). */
const CME_NOT_SEEN = 14;
/** Operation not allowed, not supported. Modems also send these for wrong PINs, so the number of attempts decides. */
const CME_DOUBTFUL = new Set([3, 4]);

/** The parts that entering a PIN uses. */
export interface PinParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly log: Logger;
  readonly pinTries: PinTriesQuery | undefined;
}

/** A locked card: its ICCID, if it returns one, and its modem. */
interface LockedCard {
  readonly iccid: string | undefined;
  /** Identifies the card while it does not return its ICCID. */
  readonly device: string;
}

/** The reason why a card stays locked, as a word for the operator. */
type PinRefusal =
  /** No PIN is configured for this card. */
  | 'sim_pin'
  /** The card refused the configured PIN before. */
  | 'sim_pin_wrong'
  /** The PIN was entered with an unknown result, and may be wrong. */
  | 'sim_pin_unproved'
  /** The card returns no ICCID and does not report all attempts left, so it may have refused the PIN before. */
  | 'sim_pin_no_iccid'
  /** The card has too few attempts left. */
  | 'sim_pin_last_try'
  /** The journal cannot record the attempt, so the PIN is not entered. */
  | 'journal_unavailable';

/** With these, another PIN may be tried: `enterPin` repeats no refused one. */
export const TAKES_PIN: ReadonlySet<string> = new Set<PinRefusal>([
  'sim_pin',
  'sim_pin_wrong',
  'sim_pin_unproved',
]);

/**
 * Enters the PIN of a card, identified by its ICCID, or by its device if the locked card returns none. A refusal under either identity
 * counts. Resolves with `undefined` if the modem accepted the PIN. Rejects with `AtTimeoutError` and `PortClosedError`.
 */
export async function enterPin(
  parts: PinParts,
  { iccid, device }: LockedCard,
  pin: string | undefined,
): Promise<PinRefusal | undefined> {
  const { channel, journal, log } = parts;
  if (pin === undefined || !/^\d{4,8}$/.test(pin)) return 'sim_pin';
  const card = iccid ?? device;
  const digest = digestOf(card, pin);
  const triesLeft = await readPinTries(channel, parts.pinTries);
  const known = journal.state.pins.get(digest);
  const record = (result: PinRecord['result']): PinRecord => ({
    kind: 'pin',
    card,
    digest,
    result,
    triesLeft: triesLeft ?? null,
  });
  const isWhole = triesLeft !== undefined && triesLeft >= TRIES_WHOLE;
  const refusal =
    refusalOf(known, triesLeft) ??
    (iccid === undefined && !isWhole ? 'sim_pin_no_iccid' : undefined) ??
    // A card with all attempts left is not the one that refused a PIN in this device before it returned its ICCID.
    (isWhole ? undefined : refusalOf(journal.state.pins.get(digestOf(device, pin)), triesLeft)) ??
    (triesLeft === undefined && othersOf(journal, record('trying')).length > TRIES_WHOLE - TRIES_LEFT_MIN
      ? 'sim_pin_last_try'
      : undefined);
  if (refusal === 'sim_pin_wrong' && known?.result === 'trying') await journal.append(record('refused'));
  if (refusal !== undefined) return refusal;
  try {
    await journal.append(record('trying'));
  } catch (error) {
    log.error({ err: error }, 'PIN not entered: the journal could not record the attempt');
    return 'journal_unavailable';
  }
  try {
    await channel.send(atCommand(`AT+CPIN=${quoted(pin)}`, { shownAs: 'AT+CPIN=…' }));
  } catch (error) {
    if (isUnanswered(error)) throw error;
    const code = error instanceof CmeError ? error.code : undefined;
    if (code === CME_NOT_SEEN) {
      await journal.append(record('clear'));
      return 'sim_pin';
    }
    if (code !== undefined && CME_DOUBTFUL.has(code)) return 'sim_pin_unproved';
    log.error({ card, reason: error instanceof AtError ? error.message : '' }, 'the SIM refused its PIN');
    await journal.append(record('refused'));
    return 'sim_pin_wrong';
  }
  await journal.append(record('clear'));
  // The card has all its tries again. Where the modem does not report them, these records count them.
  if (triesLeft === undefined)
    for (const other of othersOf(journal, record('clear')))
      await journal.append({ ...other, result: 'clear' });
  return undefined;
}

/** Other PINs that the card refused, or may have refused. */
function othersOf(journal: Journal, { card, digest }: PinRecord): PinRecord[] {
  return [...journal.state.pins.values()].filter((other) => other.card === card && other.digest !== digest);
}

/** Returns the attempts left before the card asks for its PUK; `undefined` if the modem does not return them. */
async function readPinTries(
  channel: AtChannel,
  query: PinTriesQuery | undefined,
): Promise<number | undefined> {
  if (query === undefined) return undefined;
  const lines = (await ask(channel, atCommand(query.command, { answer: query.answer }))) ?? [];
  const tries = lines.map((line) => query.tries.exec(line)?.[1]).find((digits) => digits !== undefined);
  return tries === undefined ? undefined : Number(tries);
}

function digestOf(card: string, pin: string): string {
  return createHash('sha256').update(`${card}/${pin}`).digest('hex');
}

function refusalOf(known: PinRecord | undefined, triesLeft: number | undefined): PinRefusal | undefined {
  if (known?.result === 'refused') return 'sim_pin_wrong';
  if (known?.result === 'trying') {
    if (known.triesLeft === null || triesLeft === undefined) return 'sim_pin_unproved';
    // A wrong PIN costs an attempt. With as many left as before, the card did not get the PIN, or it was right.
    if (triesLeft < known.triesLeft) return 'sim_pin_wrong';
  }
  return triesLeft !== undefined && triesLeft < TRIES_LEFT_MIN ? 'sim_pin_last_try' : undefined;
}
