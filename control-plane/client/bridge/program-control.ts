// The control of a program: it reads events as lines of JSON from file descriptor 3, and writes its requests to 4.
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { clientFrameSchema } from '#shared/api/voice-frames.ts';
import { jsonOf } from '#shared/json.ts';

export const CONTROL_STDIO = ['pipe', 'pipe'] as const;
const [EVENTS_FD, REQUESTS_FD] = [3, 4];

const LINE_CHARACTERS_MAX = 4_096;
/** Hundreds of events: a program that reads none misses them. */
const UNREAD_BYTES_MAX = 64 * 1024;

interface ControlListener {
  onClear(): void;
  /** A message for the service. */
  onRequest(text: string): void;
  onNote(words: string): void;
}

export class ProgramControl {
  readonly #events: Writable;
  readonly #listener: ControlListener;
  #line = '';

  constructor({ stdio }: ChildProcess, listener: ControlListener) {
    this.#events = stdio[EVENTS_FD] as Writable;
    this.#listener = listener;
    // A program may close them.
    this.#events.on('error', () => undefined);
    const requests = stdio[REQUESTS_FD] as Readable;
    requests.on('error', () => undefined);
    requests.setEncoding('utf8').on('data', (text: string) => this.#onText(text));
  }

  /** `frame`: JSON in one line. */
  send(frame: string): void {
    if (this.#events.writableLength > UNREAD_BYTES_MAX)
      this.#listener.onNote('the program reads no events: they are dropped');
    else this.#events.write(`${frame}\n`);
  }

  end(): void {
    this.#events.end();
  }

  #onText(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop() ?? '';
    if (this.#line.length > LINE_CHARACTERS_MAX) this.#line = 'too long';
    for (const line of lines) if (line.trim() !== '') this.#onLine(line);
  }

  #onLine(line: string): void {
    const request = clientFrameSchema.safeParse(jsonOf(line)).data;
    if (request?.type === 'clear') this.#listener.onClear();
    else if (request?.type === 'dtmf' || (request?.type === 'hangup' && request.when === 'now'))
      this.#listener.onRequest(JSON.stringify(request));
    else if (request?.type === 'hangup')
      this.#listener.onNote(
        'a hangup of the program was ignored: to end after its last words, it exits with 0',
      );
    else this.#listener.onNote('a line of the program was ignored: it is no clear, dtmf or hangup');
  }
}
