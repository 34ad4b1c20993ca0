// Entering a PIN: at most once when it is wrong, over restarts and kills too, and never as the last try.
import { createHash } from 'node:crypto';
import type { Logger } from '#shared/log.ts';
import { ask } from '../../at/ask.ts';
import { AtError, CmeError, isUnanswered } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand, quoted } from '../../at/command.ts';
import type { Journal } from '../../journal/journal.ts';
import type { PinRecord } from '../../journal/record.ts';
import type { PinTriesQuery } from '../profiles/profile.ts';

/** One left would be the last: then the card asks for its PUK. */
const TRIES_LEFT_MIN = 2;
/** All that a card has (3GPP TS 31.102 §5.1.1 with ETSI TS 102 221 §9.5.1): it has seen no wrong PIN. */
const TRIES_WHOLE = 3;
/** SIM busy: the card did not see the PIN (3GPP TS 27.007 §9.2.1). */
const CME_NOT_SEEN = 14;
/** Operation not allowed, not supported. Modems answer so to wrong PINs too; the number of tries decides. */
const CME_DOUBTFUL = new Set([3, 4]);

/** The parts that entering a PIN needs. */
export interface PinParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly log: Logger;
  readonly pinTries: PinTriesQuery | undefined;
}

/** A locked card: its ICCID, where it returns one, and the modem that holds it. */
interface LockedCard {
  readonly iccid: string | undefined;
  /** Names the card while it does not return its ICCID. */
  readonly device: string;
}

/** Why a card stays locked, a word for the operator. */
type PinRefusal =
  /** None is configured for this card. */
  | 'sim_pin'
  /** The card has refused the configured one before. */
  | 'sim_pin_wrong'
  /** It was entered, its result is not known, and it may have been wrong. */
  | 'sim_pin_unproved'
  /** It returns no ICCID, and does not report that all its tries are left: it may have refused the PIN before. */
  | 'sim_pin_no_iccid'
  /** The card has too few tries left. */
  | 'sim_pin_last_try'
  /** The journal cannot keep the try, so the PIN is not entered. */
  | 'journal_unavailable';

/**
 * Enters the PIN of a card, named by ICCID or, where a locked card returns none, by its device. A refusal under either name counts.
 * Resolves with `undefined` when the modem took the PIN. Rejects with `AtTimeoutError` and `PortClosedError`.
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
    // With all its tries left it is not the card that was refused in this device before it returned its ICCID.
    (isWhole ? undefined : refusalOf(journal.state.pins.get(digestOf(device, pin)), triesLeft));
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
  return undefined;
}

/** Tries before the card asks for its PUK; `undefined` where the modem does not return them. */
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
    // A wrong one costs a try: with as many left as before it was not seen, or it was right.
    if (triesLeft < known.triesLeft) return 'sim_pin_wrong';
  }
  return triesLeft !== undefined && triesLeft < TRIES_LEFT_MIN ? 'sim_pin_last_try' : undefined;
}
