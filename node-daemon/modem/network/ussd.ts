// USSD: sends a code to the network, reads its answers, and ends the dialogue (3GPP TS 27.007 §7.15).
//
//   idle ──AT+CUSD=1,code──► asked ──+CUSD: 1──► waits ──reply──► asked
//                              └──+CUSD: 0, 2 … 5, time-out, canceled───► idle ◄──AT+CUSD=2──┘
import { type Clock, withTimeout } from '#shared/clock.ts';
import { ask } from '../../at/ask.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand, atQuery, quoted } from '../../at/command.ts';
import { fieldsOf } from '../../at/fields.ts';
import { packedCode, ussdText } from '../../sms/ussd-text.ts';

/** Time limit of the network (not defined in 3GPP TS 22.090; 120 s with Quectel EC2x). */
const USSD_TIMEOUT_MS = 60_000;
/** An answer has at most 182 characters (3GPP TS 23.038 §5), and so no more lines than that. */
const LINES_MAX = 64;
/** 3GPP TS 23.038 §5: default alphabet, language unspecified. */
const DCS_GSM7 = 15;

/** Matches lines that may come between two lines of an answer without belonging to it. */
const OTHER_URC = /^([+^*$][A-Z]|RING$|NO CARRIER$)/;
/** Characters of the longest end of an answer: quotation mark, comma, space, coding scheme. */
const CLOSING_MAX = 6;
const ANSWER = /^\+CUSD: ?(\d)(?:, ?"([\s\S]*)"(?:, ?(\d{1,3}))?)?/;

/** <m> of +CUSD. */
const PROBLEMS: Readonly<Record<number, string>> = {
  2: 'the network ended the dialogue',
  3: 'another program on this modem answered',
  4: 'the network does not support this code',
  5: 'the network did not answer in time',
};

interface UssdOutcome {
  readonly text: string | null;
  readonly waits: boolean;
  readonly problem: string | null;
}

/** Another dialogue is in progress. */
export class UssdBusyError extends Error {
  override name = 'UssdBusyError';
}

/** The network did not answer in time. */
export class UssdTimeoutError extends Error {
  override name = 'UssdTimeoutError';
}

/** The caller canceled the dialogue. */
export class UssdCancelledError extends Error {
  override name = 'UssdCancelledError';
}

interface UssdOptions {
  /** Time limit for each answer of the network. */
  readonly timeoutMs?: number | undefined;
  /** Aborted to end the dialogue early. */
  readonly signal?: AbortSignal | undefined;
}

interface UssdParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  /** Whether the modem needs codes as packed septets. */
  readonly isPacked: () => boolean;
}

/** The USSD dialogues of one modem, one at a time. */
export class Ussd {
  readonly #parts: UssdParts;
  #isBusy = false;
  #onAnswer: ((line: string) => void) | undefined;
  /** The lines so far of an answer with several lines. */
  #lines: string[] = [];

  constructor(parts: UssdParts) {
    this.#parts = parts;
  }

  /** Returns true for a line of an answer, which no other consumer needs. */
  onUrc(line: string): boolean {
    if (!line.startsWith('+CUSD:') && (this.#lines.length === 0 || OTHER_URC.test(line))) return false;
    this.#lines.push(line);
    const text = this.#lines.join('\n');
    if (isOpen(text) && this.#lines.length < LINES_MAX) return true;
    this.#lines = [];
    this.#onAnswer?.(text);
    return true;
  }

  /**
   * Sends a code to the network, then one reply to each of its questions, and ends a dialogue that is still open. Rejects with
   * `AtError` if the modem refuses, and with `UssdBusyError`, `UssdTimeoutError` and `UssdCancelledError`.
   */
  async run(code: string, replies: readonly string[], options: UssdOptions = {}): Promise<UssdOutcome> {
    if (this.#isBusy) throw new UssdBusyError('another USSD dialogue is in progress');
    this.#isBusy = true;
    this.#lines = [];
    let isOpen = true;
    try {
      let outcome = await this.#give(code, options);
      for (const reply of replies) if (outcome.waits) outcome = await this.#give(reply, options);
      isOpen = outcome.waits;
      return outcome;
    } finally {
      // A late answer is dropped, so that the next dialogue does not get it.
      this.#onAnswer = () => undefined;
      if (isOpen) await ask(this.#parts.channel, atCommand('AT+CUSD=2')).catch(() => undefined);
      this.#onAnswer = undefined;
      this.#isBusy = false;
    }
  }

  async #give(text: string, { timeoutMs = USSD_TIMEOUT_MS, signal }: UssdOptions): Promise<UssdOutcome> {
    const { channel, clock, isPacked } = this.#parts;
    const characterSet = await this.#characterSet();
    const line = new Promise<string>((resolve, reject) => {
      this.#onAnswer = resolve;
      const cancel = (): void => reject(new UssdCancelledError('the dialogue was canceled'));
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
    const written = isPacked() ? packedCode(text) : inCharacterSet(text, characterSet);
    const answered = withTimeout(
      clock,
      line,
      timeoutMs,
      () => new UssdTimeoutError(`the network did not answer in ${timeoutMs / 1000} s`),
    );
    // The caller gets the modem's refusal instead.
    answered.catch(() => undefined);
    if (signal?.aborted === true) await answered;
    await channel.send(atCommand(`AT+CUSD=1,${quoted(written)},${DCS_GSM7}`, { shownAs: 'AT+CUSD=1' }));
    return outcomeOf(await answered, characterSet);
  }

  async #characterSet(): Promise<string> {
    const [line = ''] = (await ask(this.#parts.channel, atQuery('AT+CSCS?', '+CSCS:'))) ?? [];
    return fieldsOf(line)[0] ?? 'GSM';
  }
}

const inCharacterSet = (text: string, characterSet: string): string =>
  characterSet === 'UCS2' ? Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase() : text;

/** The text may also contain quotation marks, even thousands from a modem that is broken. */
function isOpen(text: string): boolean {
  const quote = text.indexOf('"');
  const end = text.slice(Math.max(quote + 1, text.length - CLOSING_MAX));
  return quote !== -1 && !/"(, ?\d{1,3})?$/.test(end);
}

function outcomeOf(line: string, characterSet: string): UssdOutcome {
  const [, m = '0', str = '', dcs = DCS_GSM7] = ANSWER.exec(line) ?? [];
  const text = str === '' ? null : ussdText(str, Number(dcs), characterSet);
  return { text, waits: m === '1', problem: PROBLEMS[Number(m)] ?? null };
}
