// The output of a port: answers and unsolicited lines, formatted as the settings require, in one write.
import type { Clock, Timer } from '#shared/clock.ts';
import type { PortSettings } from './settings.ts';

/** Unsolicited lines that wait for the end of an answer. */
const HELD_URCS_MAX = 256;

/** ITU-T V.250 §5.7.1 and table 1. */
const NUMERIC_RESULTS: Readonly<Record<string, string>> = {
  OK: '0',
  CONNECT: '1',
  RING: '2',
  'NO CARRIER': '3',
  ERROR: '4',
  'NO DIALTONE': '6',
  BUSY: '7',
  'NO ANSWER': '8',
};

interface PortOutputOptions {
  settings: PortSettings;
  clock: Clock;
  write: (bytes: Buffer) => void;
}

/** Collects text until `flush`. Characters are octets. */
export class PortOutput {
  readonly #options: PortOutputOptions;
  #text = '';
  #heldUrcs: string[] = [];
  /** Start of the delayed answer in the text. */
  #lateFrom: number | undefined;
  #lateMs = 0;
  #late = '';
  #lateness: Timer | undefined;

  constructor(options: PortOutputOptions) {
    this.#options = options;
  }

  emit(text: string): void {
    this.#text += text;
  }

  echo(text: string): void {
    if (this.#options.settings.echo) this.#text += text;
  }

  /** §5.7.1: with ATV0 there is no header in front of the text. */
  emitInformation(text: string): void {
    const { verbose, carriageReturn, lineFeed } = this.#options.settings;
    const end = String.fromCharCode(carriageReturn, lineFeed);
    this.#text += `${verbose ? end : ''}${text}${end}`;
  }

  /** A final result code, as text or as number. */
  emitResult(result: string): void {
    const { verbose, quiet, carriageReturn, lineFeed } = this.#options.settings;
    if (quiet) return;
    const numeric = NUMERIC_RESULTS[result];
    const end = String.fromCharCode(carriageReturn);
    const head = end + String.fromCharCode(lineFeed);
    this.#text += verbose || numeric === undefined ? `${head}${result}${head}` : `${numeric}${end}`;
  }

  /** Keeps an unsolicited line until `releaseUrcs`; beyond the bound the oldest goes. */
  holdUrc(line: string): void {
    this.#heldUrcs.push(line);
    if (this.#heldUrcs.length > HELD_URCS_MAX) this.#heldUrcs.shift();
  }

  releaseUrcs(): void {
    const held = this.#heldUrcs;
    this.#heldUrcs = [];
    for (const line of held) this.emitInformation(line);
  }

  /** Delays the output from here to `endAnswer` until the next command, or for `ms`. */
  beginLateAnswer(ms: number): void {
    this.#lateFrom = this.#text.length;
    this.#lateMs = ms;
  }

  endAnswer(): void {
    if (this.#lateFrom === undefined) return;
    this.#late += this.#text.slice(this.#lateFrom);
    this.#text = this.#text.slice(0, this.#lateFrom);
    this.#lateFrom = undefined;
    this.#lateness?.cancel();
    this.#lateness = this.#options.clock.after(this.#lateMs, () => {
      this.emitLate();
      this.flush();
    });
  }

  /** Writes the delayed answer. */
  emitLate(): void {
    this.#lateness?.cancel();
    this.#text += this.#late;
    this.#late = '';
  }

  flush(): void {
    if (this.#text === '') return;
    const bytes = Buffer.from(this.#text, 'latin1');
    this.#text = '';
    if (this.#lateFrom !== undefined) this.#lateFrom = 0;
    this.#options.write(bytes);
  }

  /** Drops everything and writes no more. */
  close(): void {
    this.#lateness?.cancel();
    this.#text = '';
  }
}
