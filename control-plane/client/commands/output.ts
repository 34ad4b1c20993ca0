// Output of commands: answers to standard output for programs, progress and errors to standard error for people.
import { onLines, onOneLine, toJson } from '#shared/process/terminal.ts';
import { described, EXIT, explained, UsageError } from './failures.ts';

export interface OutputOptions {
  json?: boolean;
  print?: string;
}

/** Moves to the beginning of the line and erases it (ECMA-48). */
const ERASE_LINE = '\r\u001b[K';
const TICK_MS = 1_000;

export class Output {
  readonly #isJson: boolean;
  readonly #print: string | undefined;
  #waiting: { text: string; since: number; timer: NodeJS.Timeout } | undefined;

  constructor({ json, print }: OutputOptions) {
    this.#isJson = json === true;
    this.#print = print;
  }

  /** Rejects `--print` of a field that the answer will not have, before anything is paid, sent or claimed. */
  expect(fields: readonly string[]): void {
    if (this.#print !== undefined && !fields.includes(this.#print))
      throw new UsageError(
        `--print: the answer has no field "${this.#print}"; its fields are ${fields.join(', ')}`,
      );
  }

  prints(field: string): boolean {
    return this.#print === field;
  }

  /** Prints the answer of a command; with `--print` one field of it, or of each of its `items`. */
  answer(value: object, items: readonly object[] = []): void {
    this.#stopWaiting();
    if (this.#print === undefined) write(toJson(value, this.#isJson ? undefined : 2));
    else for (const each of this.#print in value ? [value] : items) this.#printField(each, this.#print);
  }

  /** Prints messages that the service delivers only once. */
  claimed(answer: { messages: readonly object[]; count: number }): void {
    if (answer.count > 0) closedPipeExit = EXIT.unread;
    this.answer(answer, answer.messages);
  }

  /** Prints one of many answers, one line each. */
  line(value: object): void {
    this.#stopWaiting();
    if (this.#print === undefined) write(toJson(value));
    else this.#printField(value, this.#print);
  }

  /** Reports an event to people. */
  note(text: string): void {
    this.#stopWaiting();
    if (!this.#isJson) process.stderr.write(`${onOneLine(text)}\n`);
  }

  /** Shows what the command waits for, until the next message; on a terminal also the elapsed seconds. */
  waiting(what: string): void {
    this.#stopWaiting();
    if (this.#isJson) return;
    const text = onOneLine(what);
    if (!process.stderr.isTTY) {
      process.stderr.write(`${text} …\n`);
      return;
    }
    const timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#waiting = { text, since: Date.now(), timer };
    this.#tick();
  }

  failure(error: unknown): void {
    this.#stopWaiting();
    process.stderr.write(
      `${this.#isJson ? toJson(described(error)) : `error: ${onLines(explained(error))}`}\n`,
    );
  }

  #tick(): void {
    if (this.#waiting === undefined) return;
    const seconds = Math.round((Date.now() - this.#waiting.since) / 1000);
    process.stderr.write(`${ERASE_LINE}${this.#waiting.text} … ${seconds === 0 ? '' : `${seconds} s`}`);
  }

  #stopWaiting(): void {
    if (this.#waiting === undefined) return;
    clearInterval(this.#waiting.timer);
    this.#waiting = undefined;
    process.stderr.write(ERASE_LINE);
  }

  #printField(value: object, name: string): void {
    const field = (value as Record<string, unknown>)[name];
    if (typeof field !== 'string') write(toJson(field ?? null));
    // Programs get the exact value; for a terminal, control characters are removed.
    else write(process.stdout.isTTY ? onOneLine(field) : field);
  }
}

const write = (text: string): void => void process.stdout.write(`${text}\n`);

let closedPipeExit: number = EXIT.ok;

/**
 * A reader that closes the pipe early, such as `head`, ends the program without an error, unless output is lost by it. Unread progress does
 * not stop a payment.
 */
export function tolerateClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(closedPipeExit);
    throw error;
  });
  process.stderr.on('error', () => undefined);
}
