// An operator command's side of the operators' socket.
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { personName } from '../process/person-name.ts';
import {
  type LocalRequest,
  LocalSocketError,
  type LocalSocketTrouble,
  linesOf,
  localError,
  openLocal,
} from './local-socket.ts';
import { isOperatorErrorReason, OperatorError } from './operator-error.ts';
import {
  ALIVE_EVERY_MS,
  CALLER_HEADER,
  OPERATED_PROGRAMS,
  OPERATOR_API_VERSION,
  type OperatedProgram,
  PROGRAM_HEADER,
  VERSION_HEADER,
} from './operator-server.ts';
import type { AnswerOf, InputOf, OperatorClient, Procedures } from './procedure.ts';

const HEADERS = {
  [VERSION_HEADER]: OPERATOR_API_VERSION,
  [CALLER_HEADER]: personName(),
  'Content-Type': 'application/json',
};

interface SocketOptions {
  readonly socketPath: string;
  readonly program: OperatedProgram;
  /** Longer than any procedure takes. */
  readonly timeoutMs: number;
  /** The advice for an operator who may not open the socket. */
  readonly howToOpen?: string;
}

/** The socket is that of the other program: the command was given its data folder. */
export class OtherProgramError extends OperatorError {
  readonly seen: string;
  readonly advice: string;

  constructor(socketPath: string, listening: OperatedProgram, wanted: OperatedProgram) {
    const seen = `${socketPath} belongs to ${OPERATED_PROGRAMS[listening]}, not to ${OPERATED_PROGRAMS[wanted]}`;
    const advice = `Name the data folder of ${OPERATED_PROGRAMS[wanted]} with --data-dir or DATA_DIR.`;
    super('unreachable', `${seen}. ${advice}`);
    this.seen = seen;
    this.advice = advice;
  }
}

/** Asks the program that listens on a socket; each request has a connection of its own. */
export class SocketClient<P extends Procedures> implements OperatorClient<P> {
  readonly #options: SocketOptions;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Whether a program listens. Throws `OperatorError` when it does not answer in `timeoutMs`, or is another program. */
  async isThere(probe: keyof P & string, timeoutMs: number): Promise<boolean> {
    const asked = { ...this.#request('POST', probe), input: {}, timeoutMs };
    try {
      await this.#read(asked);
      return true;
    } catch (error) {
      if (troubleOf(error) === 'absent') return false;
      throw error;
    }
  }

  async call<N extends keyof P & string>(name: N, input: InputOf<P, N>): Promise<AnswerOf<P, N>> {
    return JSON.parse(await this.#read({ ...this.#request('POST', name), input })) as AnswerOf<P, N>;
  }

  /** The bytes of a stream. Throws `OperatorError`. */
  async *download(name: string): AsyncGenerator<Buffer> {
    const asked = this.#request('GET', name);
    const response = await this.#open(asked);
    try {
      yield* response;
    } catch (error) {
      throw this.#errorOf(error, asked);
    }
  }

  /** The items of a stream of lines, until its end or the signal. Throws `OperatorError` when the program goes away. */
  async *follow(path: string, signal: AbortSignal): AsyncGenerator<unknown> {
    const asked = { ...this.#request('GET', path), timeoutMs: 3 * ALIVE_EVERY_MS, signal };
    try {
      for await (const line of linesOf(await this.#open(asked), asked))
        if (line !== '') yield JSON.parse(line);
    } catch (error) {
      if (!signal.aborted) throw this.#errorOf(error, asked);
    }
  }

  #request(method: string, path: string): LocalRequest {
    const { socketPath, timeoutMs } = this.#options;
    return { socketPath, timeoutMs, method, path: `/${path}`, headers: HEADERS };
  }

  async #read(asked: LocalRequest): Promise<string> {
    const response = await this.#open(asked);
    return textOf(response).catch((error: unknown) => {
      throw this.#errorOf(error, asked);
    });
  }

  async #open(asked: LocalRequest): Promise<IncomingMessage> {
    const { program, socketPath } = this.#options;
    const response = await openLocal(asked).catch((error: unknown) => {
      throw this.#errorOf(error, asked);
    });
    const { [PROGRAM_HEADER]: listening, [VERSION_HEADER]: version } = response.headers;
    if (version === undefined || !isOperatedProgram(listening)) {
      response.destroy();
      throw new OperatorError(
        'unreachable',
        `another program listens on the socket of ${OPERATED_PROGRAMS[program]}`,
      );
    }
    if (listening !== program) {
      response.destroy();
      throw new OtherProgramError(socketPath, listening, program);
    }
    if (response.statusCode === 200) return response;
    const { error, message } = JSON.parse(await textOf(response)) as { error?: unknown; message?: unknown };
    throw new OperatorError(isOperatorErrorReason(error) ? error : 'refused', String(message));
  }

  #errorOf(thrown: unknown, asked: LocalRequest): OperatorError {
    if (thrown instanceof OperatorError) return thrown;
    const { howToOpen } = this.#options;
    const program = OPERATED_PROGRAMS[this.#options.program];
    const error = localError(thrown, asked);
    const { message, trouble } = error;
    switch (trouble) {
      case 'denied':
        return new OperatorError('unreachable', [message, howToOpen].filter(Boolean).join(': '), error);
      case 'absent':
        return new OperatorError('unreachable', `${program} is not running: ${message}`, error);
      case 'silent':
        return new OperatorError('unanswered', `${program} does not answer: ${message}`, error);
      case 'broken':
        return new OperatorError('unanswered', `${program} broke off the answer: ${message}`, error);
    }
  }
}

const isOperatedProgram = (name: unknown): name is OperatedProgram =>
  typeof name === 'string' && Object.hasOwn(OPERATED_PROGRAMS, name);

const troubleOf = (error: unknown): LocalSocketTrouble | undefined =>
  error instanceof OperatorError && error.cause instanceof LocalSocketError ? error.cause.trouble : undefined;

/** Whether the program went away or is silent, and may be back soon: the error is not its answer. */
export const isAway = (error: unknown): boolean => !['denied', undefined].includes(troubleOf(error));
