// The AT channel of one port: a bounded queue, one command in flight, URCs in order.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { AtError, AtTimeoutError, CmeError, CmsError, PortClosedError, QueueFullError } from './at-error.ts';
import { type AtCommand, atCommand } from './command.ts';
import {
  beginExchange,
  type ExchangeInput,
  type ExchangeState,
  type Information,
  stepExchange,
} from './exchange.ts';
import { type Frame, Framer } from './framer.ts';
import type { Port } from './port.ts';
import { type Urc, UrcAssembler } from './urc.ts';

/** Callers wait for answers, so that a handful of commands is normal; this many means that nobody waits. */
export const QUEUE_LENGTH_MAX = 64;
/** The prompt comes at once where it comes at all. */
export const PROMPT_TIMEOUT_MS = 5_000;
/** After a lost answer the modem is asked for a sign of life this often before the port is given up. */
export const RESYNC_ATTEMPTS = 3;
const RESYNC_TIMEOUT_MS = 2_000;
/** After a lost answer the line must stay quiet this long: a late answer comes before, never after it. */
export const RESYNC_QUIET_MS = 100;

/** A modem that never is quiet is used as it is. */
const QUIET_WAITS_MAX = 10;

const CTRL_Z = '\x1a';
const ESC = '\x1b';

/** Reading a message that was just announced goes first, what can wait goes last. */
export type Priority = 'urgent' | 'normal' | 'background';
const PRIORITIES: readonly Priority[] = ['urgent', 'normal', 'background'];

interface Waiting {
  readonly command: AtCommand;
  readonly priority: Priority;
  readonly resolve: (information: readonly Information[]) => void;
  readonly reject: (error: AtError) => void;
}

type Done = Extract<ExchangeState, { kind: 'done' }>;

interface InFlight {
  readonly command: AtCommand;
  state: ExchangeState;
  readonly done: (state: Done) => void;
  timer: Timer;
}

/** The dialogue with one modem: commands one at a time, each with its own answer, and URCs as they come. */
export class AtChannel {
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #framer = new Framer();
  readonly #assembler = new UrcAssembler();
  readonly #queue: Waiting[] = [];
  readonly #urcHandlers = new Set<(urc: Urc) => void>();
  readonly #closeHandlers = new Set<(reason: PortClosedError) => void>();
  #inFlight: InFlight | undefined;
  #busy = false;
  #closed: PortClosedError | undefined;
  #lastByteAt = 0;

  constructor(port: Port, clock: Clock, log: Logger) {
    this.#port = port;
    this.#clock = clock;
    this.#log = log;
    port.onData((bytes) => this.#onData(bytes));
    port.onClose((reason) => this.#onClosed(reason));
  }

  /** Every URC, in the order of the line. A handler must not block; it may send commands. */
  onUrc(handler: (urc: Urc) => void): void {
    this.#urcHandlers.add(handler);
  }

  /** Called once when the port is gone, at once if it is already. */
  onClose(handler: (reason: PortClosedError) => void): void {
    if (this.#closed !== undefined) handler(this.#closed);
    else this.#closeHandlers.add(handler);
  }

  /**
   * Runs a command; resolves with its information responses. Rejects with `CmeError`, `CmsError` or
   * `AtError` for an error answer, `AtTimeoutError`, `PortClosedError`, or `QueueFullError`.
   */
  send(command: AtCommand, priority: Priority = 'normal'): Promise<readonly Information[]> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#queue.length >= QUEUE_LENGTH_MAX) {
      return Promise.reject(new QueueFullError(`${command.text}: ${QUEUE_LENGTH_MAX} commands wait already`));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, priority, resolve, reject });
      if (!this.#busy) void this.#run();
    });
  }

  /**
   * Brings a freshly opened modem to answer: leaves a prompt in which an earlier process may have left
   * it, then asks for signs of life. Rejects with `AtTimeoutError` when there are none.
   */
  async wake(attempts: number, timeoutMs: number): Promise<void> {
    this.#busy = true;
    try {
      await this.#write(`${ESC}\r`);
      await this.#resync(true, attempts, timeoutMs);
    } finally {
      this.#busy = false;
      if (this.#queue.length > 0) void this.#run();
    }
  }

  /** Closes the port; what waits is rejected with `PortClosedError`. Idempotent. */
  async close(reason: Error): Promise<void> {
    this.#onClosed(reason);
    await this.#port.close();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const done = await this.#exchange(next.command, next.command.timeoutMs);
      if (done === undefined) {
        next.reject(this.#closedError(next.command, false));
        continue;
      }
      this.#settle(next, done);
      if (needsResync(next.command, done)) await this.#recover(next.command, done);
    }
    this.#busy = false;
  }

  #next(): Waiting | undefined {
    if (this.#closed !== undefined) return undefined;
    for (const priority of PRIORITIES) {
      const position = this.#queue.findIndex((waiting) => waiting.priority === priority);
      if (position >= 0) return this.#queue.splice(position, 1)[0];
    }
    return undefined;
  }

  #settle(waiting: Waiting, done: Done): void {
    const { text, timeoutMs } = waiting.command;
    const { result, bodyGiven } = done;
    if (this.#closed !== undefined && result.kind === 'timeout') {
      waiting.reject(this.#closedError(waiting.command, bodyGiven));
    } else if (result.kind === 'timeout') {
      const after = result.phase === 'prompt' ? PROMPT_TIMEOUT_MS : timeoutMs;
      waiting.reject(new AtTimeoutError(text, after, bodyGiven));
    } else if (result.final.kind === 'ok') waiting.resolve(result.information);
    else if (result.final.kind === 'cme') waiting.reject(new CmeError(text, result.final.code, bodyGiven));
    else if (result.final.kind === 'cms') waiting.reject(new CmsError(text, result.final.code, bodyGiven));
    else waiting.reject(new AtError(`${text}: ERROR`, { bodyGiven }));
  }

  #closedError(command: AtCommand, bodyGiven: boolean): PortClosedError {
    return new PortClosedError(`${command.text}: the port is gone`, {
      bodyGiven,
      cause: this.#closed?.cause,
    });
  }

  /** Resolves with the end of the exchange; a close of the port ends it as a time-out. */
  async #exchange(command: AtCommand, timeoutMs: number): Promise<Done | undefined> {
    if (this.#closed !== undefined) return undefined;
    const done = new Promise<Done>((resolve) => {
      const state = beginExchange(command);
      const firstTimeoutMs = state.kind === 'awaitingPrompt' ? PROMPT_TIMEOUT_MS : timeoutMs;
      this.#inFlight = { command, state, done: resolve, timer: this.#timeout(firstTimeoutMs) };
    });
    this.#log.debug({ command: command.text }, 'at command');
    void this.#write(`${command.text}\r`);
    return done;
  }

  #timeout(timeoutMs: number): Timer {
    return this.#clock.after(timeoutMs, () => this.#input({ kind: 'timeout' }));
  }

  #input(input: ExchangeInput): void {
    const flight = this.#inFlight;
    if (flight === undefined) {
      // A prompt that nobody asked for would swallow the next command.
      if (input.kind === 'prompt') void this.#write(ESC);
      else if (input.kind === 'line') this.#dispatch(input.text);
      return;
    }
    const step = stepExchange(flight.state, input);
    flight.state = step.state;
    if (step.write === 'body') this.#giveBody(flight);
    else if (step.write === 'escape') void this.#write(ESC);
    if (step.state.kind === 'done') {
      this.#inFlight = undefined;
      flight.timer.cancel();
      flight.done(step.state);
    }
    if (step.urc !== undefined) this.#dispatch(step.urc);
  }

  #giveBody(flight: InFlight): void {
    flight.timer.cancel();
    flight.timer = this.#timeout(flight.command.timeoutMs);
    void this.#write(`${flight.command.body ?? ''}${CTRL_Z}`);
  }

  #onData(bytes: Uint8Array): void {
    if (this.#closed !== undefined) return;
    this.#lastByteAt = this.#clock.now();
    for (const frame of this.#framer.push(bytes)) this.#onFrame(frame);
  }

  #onFrame(frame: Frame): void {
    if (frame.kind === 'overlong') this.#log.warn({}, 'a line from the modem is too long: dropped');
    else if (frame.kind === 'line' && this.#assembler.takes(frame.text)) this.#dispatch(frame.text);
    else this.#input(frame);
  }

  #dispatch(line: string): void {
    for (const urc of this.#assembler.push(line)) {
      this.#log.debug({ urc: nameOf(urc) }, 'urc');
      for (const handler of [...this.#urcHandlers]) {
        try {
          handler(urc);
        } catch (error) {
          this.#log.error({ err: error, urc: nameOf(urc) }, 'a handler of URCs failed');
        }
      }
    }
  }

  /** After an answer that did not come, or came while the body was on its way: resynchronise. */
  async #recover(command: AtCommand, done: Done): Promise<void> {
    try {
      if (command.body !== undefined && !done.bodyGiven) await this.#write(ESC);
      await this.#resync(done.result.kind === 'timeout', RESYNC_ATTEMPTS, RESYNC_TIMEOUT_MS);
    } catch (error) {
      if (this.#closed === undefined) {
        await this.close(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  async #resync(quietAfter: boolean, attempts: number, timeoutMs: number): Promise<void> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const done = await this.#exchange(atCommand('AT'), timeoutMs);
      if (done === undefined) throw this.#closed ?? new PortClosedError('the port is gone');
      if (done.result.kind === 'final') {
        if (quietAfter || attempt > 1) await this.#quiet();
        return;
      }
    }
    throw new AtTimeoutError('AT', timeoutMs * attempts, false);
  }

  /** Waits until nothing has come for `RESYNC_QUIET_MS`: answers that come while nobody asks are URCs. */
  async #quiet(): Promise<void> {
    for (let wait = 0; wait < QUIET_WAITS_MAX; wait += 1) {
      const silentMs = this.#clock.now() - this.#lastByteAt;
      if (this.#closed !== undefined || silentMs >= RESYNC_QUIET_MS) return;
      await new Promise<void>((resolve) => this.#clock.after(RESYNC_QUIET_MS - silentMs, resolve));
    }
  }

  async #write(text: string): Promise<void> {
    if (this.#closed !== undefined) return;
    try {
      await this.#port.write(Buffer.from(text, 'latin1'));
    } catch (error) {
      this.#onClosed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #onClosed(cause: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = new PortClosedError('the port is gone', { cause });
    const waiting = this.#queue.splice(0);
    for (const { command, reject } of waiting) reject(this.#closedError(command, false));
    if (this.#inFlight !== undefined) this.#input({ kind: 'timeout' });
    for (const handler of [...this.#closeHandlers]) handler(this.#closed);
    this.#port.close().catch(() => undefined);
  }
}

/** For logs: what follows may be a number or a message. */
function nameOf({ line }: Urc): string {
  return /^[^:]{0,16}/.exec(line)?.[0] ?? '';
}

function needsResync(command: AtCommand, done: Done): boolean {
  if (done.result.kind === 'timeout') return true;
  // Refused while the body was on its way, its rest may be taken for a command and answered as such.
  return command.body !== undefined && done.result.final.kind !== 'ok';
}
