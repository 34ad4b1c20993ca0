// The AT channel of one port: a bounded queue, one command in flight, URCs in order.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import {
  AtError,
  AtTimeoutError,
  BusyError,
  errorOfFinal,
  PortClosedError,
  QueueFullError,
} from './at-error.ts';
import type { AtCommand } from './command.ts';
import { type CommandEnd, commandNameOf, commandResultOf } from './command-end.ts';
import { CommandQueue, type Priority, QUEUE_LENGTH_MAX } from './command-queue.ts';
import { LONG_COMMAND_MS } from './command-timeout.ts';
import {
  awaitsLine,
  beginExchange,
  type ExchangeDone,
  type ExchangeInput,
  type ExchangeResult,
  type ExchangeState,
  type Information,
  stepExchange,
} from './exchange.ts';
import { type Frame, Framer } from './framer.ts';
import type { Port } from './port.ts';
import { RESYNC_ATTEMPTS, RESYNC_TIMEOUT_MS, resynchronize } from './resync.ts';
import { type Urc, UrcAssembler } from './urc.ts';

/** The prompt comes at once, or never. */
export const PROMPT_TIMEOUT_MS = 5_000;
/** After an early OK, the answer follows within the time of ordinary commands, or never. */
export const HURRY_TIMEOUT_MS = 300;

const CTRL_Z = '\x1a';
const ESC = '\x1b';

interface Waiting {
  readonly command: AtCommand;
  readonly resolve: (information: readonly Information[]) => void;
  readonly reject: (error: AtError) => void;
  /** Ends the wait for its turn. */
  turn?: Timer;
}

interface InFlight {
  readonly command: AtCommand;
  readonly startedAt: number;
  state: ExchangeState;
  readonly done: (state: ExchangeDone) => void;
  timer: Timer;
}

/** The channel is out of sync: it is unknown to which command the next answer belongs. */
interface OutOfSync {
  /** Whether the modem may be waiting for a body. */
  readonly inPrompt: boolean;
}

/** The dialogue with one modem: one command at a time with its answer, and URCs as they come. */
export class AtChannel {
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #framer = new Framer();
  readonly #assembler = new UrcAssembler();
  readonly #queue = new CommandQueue<Waiting>();
  readonly #urcHandlers = new Set<(urc: Urc) => void>();
  readonly #closeHandlers = new Set<(reason: PortClosedError) => void>();
  #onCommandEnd: ((end: CommandEnd) => void) | undefined;
  #inFlight: InFlight | undefined;
  #outOfSync: OutOfSync | undefined;
  #busy = false;
  #closed: PortClosedError | undefined;
  #lastByteAt = 0;
  #exchanges = 0;

  constructor(port: Port, clock: Clock, log: Logger) {
    this.#port = port;
    this.#clock = clock;
    this.#log = log;
    port.onData((bytes) => this.#onData(bytes));
    port.onClose((reason) => this.#onClosed(reason));
  }

  /** Number of commands that the modem got. */
  get exchanges(): number {
    return this.#exchanges;
  }

  /** `handler` gets every URC, in order. It must not block, but may send commands. */
  onUrc(handler: (urc: Urc) => void): void {
    this.#urcHandlers.add(handler);
  }

  /** `handler` is called once when the port is gone; at once if it already is. */
  onClose(handler: (reason: PortClosedError) => void): void {
    if (this.#closed !== undefined) handler(this.#closed);
    else this.#closeHandlers.add(handler);
  }

  /** `handler` is called at the end of each command that the modem got. */
  onCommandEnd(handler: (end: CommandEnd) => void): void {
    this.#onCommandEnd = handler;
  }

  /**
   * Runs a command. Resolves with its information responses. Rejects with `CmeError`, `CmsError`,
   * `CallFailedError` or `AtError` for an error answer, `AtTimeoutError`, `PortClosedError`, or
   * `QueueFullError`. With `turnMs`, the command waits no longer than that for the commands before it: it then rejects
   * with `BusyError` if one of them takes long by nature, otherwise with `AtTimeoutError`, and the modem never gets it.
   */
  send(
    command: AtCommand,
    priority: Priority = 'normal',
    { turnMs }: { turnMs?: number | undefined } = {},
  ): Promise<readonly Information[]> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { command, resolve, reject };
      if (!this.#queue.push(waiting, priority)) {
        reject(new QueueFullError(`${command.shownAs}: ${QUEUE_LENGTH_MAX} commands are already waiting`));
        return;
      }
      if (turnMs !== undefined) waiting.turn = this.#clock.after(turnMs, () => this.#giveUp(waiting, turnMs));
      this.#work();
    });
  }

  /** Does nothing if the command has had its turn. */
  #giveUp(waiting: Waiting, turnMs: number): void {
    if (!this.#queue.remove(waiting)) return;
    const { command, startedAt = 0 } = this.#inFlight ?? {};
    const isLong = command !== undefined && command.timeoutMs >= LONG_COMMAND_MS;
    waiting.reject(
      isLong
        ? new BusyError(shownName(command), this.#clock.now() - startedAt)
        : new AtTimeoutError(waiting.command.shownAs, turnMs, false),
    );
  }

  /**
   * Makes a newly opened modem answer: leaves a prompt that an earlier process may have left open, then
   * sends `AT` until it answers. Rejects with `AtTimeoutError` if it does not.
   */
  async wake(attempts: number, timeoutMs: number): Promise<void> {
    this.#busy = true;
    try {
      await this.#write(`${ESC}\r`);
      await this.#resync(attempts, timeoutMs);
    } finally {
      this.#busy = false;
      this.#work();
    }
  }

  /** Closes the port; waiting commands are rejected with `PortClosedError`. Idempotent. */
  async close(reason: Error): Promise<void> {
    this.#onClosed(reason);
    await this.#port.close();
  }

  #work(): void {
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#closed === undefined) {
      if (this.#outOfSync !== undefined) {
        await this.#recover(this.#outOfSync);
        continue;
      }
      const next = this.#queue.shift();
      if (next === undefined) break;
      next.turn?.cancel();
      const startedAt = this.#clock.now();
      const done = await this.#exchange(next.command, next.command.timeoutMs);
      this.#reportEnd(next.command, done, startedAt);
      if (done === undefined) next.reject(this.#closedError(next.command, false));
      else this.#finish(next, done);
    }
    this.#busy = false;
  }

  #reportEnd(command: AtCommand, done: ExchangeDone | undefined, startedAt: number): void {
    this.#onCommandEnd?.({
      name: commandNameOf(command),
      result: commandResultOf(done, this.#closed !== undefined),
      tookMs: Math.max(0, this.#clock.now() - startedAt),
    });
  }

  #finish({ command, resolve, reject }: Waiting, { result, bodyGiven }: ExchangeDone): void {
    const { shownAs } = command;
    if (result.kind === 'timeout') {
      reject(this.#timeoutError(command, result.phase, bodyGiven));
    } else if (result.kind === 'swallowed') {
      this.#outOfSync = { inPrompt: false };
      reject(new AtError(`${shownAs}: the modem read the command as the body of an earlier one`));
    } else {
      // If the modem refused during the body, it may read the rest of the body as a command and answer that.
      const refused = command.body !== undefined && result.final.kind !== 'ok';
      if (refused || result.doubtful) this.#outOfSync = { inPrompt: refused && !bodyGiven };
      const error = errorOfFinal(shownAs, result.final, bodyGiven);
      if (error === undefined) resolve(result.information);
      else reject(error);
    }
  }

  #timeoutError(command: AtCommand, phase: 'prompt' | 'final', bodyGiven: boolean): AtError {
    if (this.#closed !== undefined) return this.#closedError(command, bodyGiven);
    this.#outOfSync = { inPrompt: command.body !== undefined && !bodyGiven };
    const timeoutMs = phase === 'prompt' ? PROMPT_TIMEOUT_MS : command.timeoutMs;
    return new AtTimeoutError(command.shownAs, timeoutMs, bodyGiven);
  }

  #closedError(command: AtCommand, bodyGiven: boolean): PortClosedError {
    return new PortClosedError(`${command.shownAs}: the port is gone`, {
      bodyGiven,
      cause: this.#closed?.cause,
    });
  }

  /** Resolves with the end of the exchange. A closed port ends it as a time-out. */
  async #exchange(command: AtCommand, timeoutMs: number): Promise<ExchangeDone | undefined> {
    if (this.#closed !== undefined) return undefined;
    const done = new Promise<ExchangeDone>((resolve) => {
      const state = beginExchange(command);
      const firstTimeoutMs = state.kind === 'awaitingPrompt' ? PROMPT_TIMEOUT_MS : timeoutMs;
      const timer = this.#timeout(firstTimeoutMs);
      this.#inFlight = { command, state, done: resolve, timer, startedAt: this.#clock.now() };
    });
    this.#exchanges += 1;
    this.#log.debug({ command: command.shownAs }, 'at command');
    void this.#write(`${command.text}\r`);
    return done;
  }

  #timeout(timeoutMs: number): Timer {
    return this.#clock.after(timeoutMs, () => this.#input({ kind: 'timeout' }));
  }

  #input(input: ExchangeInput): void {
    const flight = this.#inFlight;
    if (flight === undefined) {
      if (input.kind === 'prompt') this.#onStrayPrompt();
      else if (input.kind === 'line') this.#onUnsolicited(input.text);
      return;
    }
    const step = stepExchange(flight.state, input);
    flight.state = step.state;
    if (step.write === 'body') this.#giveBody(flight);
    else if (step.write === 'escape') void this.#write(ESC);
    if (step.hurry === true) this.#restartTimer(flight, HURRY_TIMEOUT_MS);
    if (step.state.kind === 'done') {
      this.#inFlight = undefined;
      flight.timer.cancel();
      flight.done(step.state);
    }
    if (step.urc !== undefined) this.#onUnsolicited(step.urc);
  }

  /** An open prompt would swallow the next command, and the answer to ESC would count as that command's answer. */
  #onStrayPrompt(): void {
    if (this.#outOfSync !== undefined) void this.#write(ESC);
    this.#outOfSync ??= { inPrompt: true };
    this.#work();
  }

  #giveBody(flight: InFlight): void {
    this.#restartTimer(flight, flight.command.timeoutMs);
    void this.#write(`${flight.command.body ?? ''}${CTRL_Z}`);
  }

  #restartTimer(flight: InFlight, timeoutMs: number): void {
    flight.timer.cancel();
    flight.timer = this.#timeout(timeoutMs);
  }

  #onData(bytes: Uint8Array): void {
    if (this.#closed !== undefined) return;
    this.#lastByteAt = this.#clock.now();
    for (const frame of this.#framer.push(bytes)) this.#onFrame(frame);
  }

  #onFrame(frame: Frame): void {
    if (frame.kind === 'overlong') {
      this.#log.warn({}, 'dropped a line from the modem: too long');
    } else if (frame.kind === 'prompt') {
      this.#input(frame);
    } else {
      const state = this.#inFlight?.state;
      const isAwaited = state !== undefined && awaitsLine(state, frame.text);
      const { urc, taken } = this.#assembler.next(frame.text, isAwaited);
      if (urc !== undefined) this.#dispatch(urc);
      if (!taken) this.#input(frame);
    }
  }

  #onUnsolicited(line: string): void {
    const urc = this.#assembler.urc(line);
    if (urc !== undefined) this.#dispatch(urc);
  }

  #dispatch(urc: Urc): void {
    this.#log.debug({ urc: nameOf(urc) }, 'urc');
    for (const handler of [...this.#urcHandlers]) {
      try {
        handler(urc);
      } catch (error) {
        this.#log.error({ err: error, urc: nameOf(urc) }, 'a URC handler failed');
      }
    }
  }

  /** Called after a missing answer, or one that belongs to an unknown command. */
  async #recover({ inPrompt }: OutOfSync): Promise<void> {
    try {
      if (inPrompt) await this.#write(ESC);
      await this.#resync(RESYNC_ATTEMPTS, RESYNC_TIMEOUT_MS);
    } catch (error) {
      await this.close(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#outOfSync = undefined;
    }
  }

  #resync(attempts: number, timeoutMs: number): Promise<void> {
    const parts = {
      clock: this.#clock,
      lastByteAt: () => this.#lastByteAt,
      exchange: async (command: AtCommand, exchangeTimeoutMs: number): Promise<ExchangeResult> => {
        const done = await this.#exchange(command, exchangeTimeoutMs);
        if (done !== undefined && this.#closed === undefined) return done.result;
        throw this.#closedError(command, false);
      },
    };
    return resynchronize(parts, attempts, timeoutMs);
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
    for (const { command, reject, turn } of this.#queue.drain()) {
      turn?.cancel();
      reject(this.#closedError(command, false));
    }
    if (this.#inFlight !== undefined) this.#input({ kind: 'closed' });
    for (const handler of [...this.#closeHandlers]) handler(this.#closed);
    this.#port.close().catch(() => undefined);
  }
}

/** "AT+COPS": the text after the name may be a number or a message. */
const shownName = (command: AtCommand): string => {
  const name = commandNameOf(command);
  return name.startsWith('AT') ? name : `AT${name}`;
};

/** Returns the name for logs. The text after the name may be a phone number or a message. */
function nameOf({ line }: Urc): string {
  return /^[^:]{0,16}/.exec(line)?.[0] ?? '';
}
