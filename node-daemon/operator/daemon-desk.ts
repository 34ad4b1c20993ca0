// An operator's way to the daemon that runs: requests over its socket.
import { askLocal, LocalSocketError, linesOf, openLocal } from '#shared/process/local-socket.ts';
import { howToGetAt } from '../system/missing-rights.ts';
import type { DeskAnswers, DeskStreams, NodeDesk } from './desk.ts';
import { DeskError, isDeskTrouble } from './desk-error.ts';
import { type DeskCall, type DeskInput, TIMEOUT_MS_MAX } from './desk-inputs.ts';
import { ALIVE_EVERY_MS, DESK_VERSION, VERSION_HEADER } from './desk-socket.ts';

/** A slot list is there at once; the daemon may be in the middle of a compaction. */
const HELLO_TIMEOUT_MS = 10_000;
/** Longer than the longest command and the queue before it may take. */
const ANSWER_TIMEOUT_MS = TIMEOUT_MS_MAX + 60_000;
const headers = { [VERSION_HEADER]: DESK_VERSION, 'Content-Type': 'application/json' };

/** The daemon's operator API; `undefined` when none listens at `socketPath`. Throws `DeskError`. */
export async function findDaemonDesk(socketPath: string): Promise<NodeDesk | undefined> {
  try {
    await new DaemonDesk(socketPath).hello();
  } catch (error) {
    if (error instanceof LocalSocketError && error.trouble === 'absent') return undefined;
    throw deskErrorOf(error, socketPath);
  }
  return new DaemonDesk(socketPath);
}

class DaemonDesk implements NodeDesk {
  readonly isRunningDaemon = true;
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async hello(): Promise<void> {
    await this.#request('slots', {}, HELLO_TIMEOUT_MS);
  }

  async ask<C extends DeskCall>(call: C, input: DeskInput<C>): Promise<DeskAnswers[C]> {
    try {
      return (await this.#request(call, input, ANSWER_TIMEOUT_MS)) as DeskAnswers[C];
    } catch (error) {
      throw deskErrorOf(error, this.#socketPath);
    }
  }

  async *follow<S extends keyof DeskStreams>(
    stream: S,
    { signal, isFollowed = true }: { signal: AbortSignal; isFollowed?: boolean },
  ): AsyncGenerator<DeskStreams[S]> {
    const asked = {
      socketPath: this.#socketPath,
      method: 'GET',
      path: `/${stream}${isFollowed ? '' : '?follow=no'}`,
      headers,
      timeoutMs: 3 * ALIVE_EVERY_MS,
      signal,
    };
    try {
      const response = await openLocal(asked);
      if (response.headers[VERSION_HEADER] === undefined) throw noDaemon(response.statusCode);
      let problem = '';
      for await (const line of linesOf(response, asked)) {
        if (response.statusCode !== 200) problem += line;
        else if (line !== '') yield JSON.parse(line) as DeskStreams[S];
      }
      if (response.statusCode !== 200) throw refusalIn(problem);
    } catch (error) {
      if (!signal.aborted) throw deskErrorOf(error, this.#socketPath);
    }
  }

  async close(): Promise<void> {
    // Each request has a connection of its own.
  }

  async #request(call: string, input: unknown, timeoutMs: number): Promise<unknown> {
    const asked = {
      socketPath: this.#socketPath,
      method: 'POST',
      path: `/${call}`,
      headers,
      input,
      timeoutMs,
    };
    const { headers: told, status, text } = await askLocal(asked);
    if (told[VERSION_HEADER] === undefined) throw noDaemon(status);
    if (status !== 200) throw refusalIn(text);
    return JSON.parse(text);
  }
}

const noDaemon = (status: number | undefined): DeskError =>
  new DeskError(
    'unreachable',
    `what listens on the socket is no daemon of this kind (HTTP ${status ?? '?'})`,
  );

function refusalIn(text: string): DeskError {
  const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
  return new DeskError(isDeskTrouble(error) ? error : 'refused', String(message));
}

function deskErrorOf(error: unknown, socketPath: string): unknown {
  if (!(error instanceof LocalSocketError)) return error;
  const { message, trouble } = error;
  if (trouble === 'denied') {
    return new DeskError('unreachable', `${message}: ${howToGetAt(socketPath)}`, error);
  }
  if (trouble === 'silent')
    return new DeskError('unanswered', `the daemon does not answer: ${message}`, error);
  if (trouble === 'absent') return new DeskError('unreachable', `the daemon is gone: ${message}`, error);
  return new DeskError('unanswered', `the daemon went away: ${message}`, error);
}
