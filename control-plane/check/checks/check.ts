// The definition of a check, and what all of them are given.
import { messageOf } from '#shared/error-message.ts';
import type { Outcome } from '#shared/operator/findings.ts';
import type { Config } from '../../config/config.ts';

/** For each check that has no time of its own. */
export const CHECK_TIMEOUT_MS = 5_000;

/** For each call of a check that makes several, so that a hanging server is reported as such. */
export const CALL_TIMEOUT_MS = 2_000;

/** For each statement: a database that answers late still answers. */
export const STATEMENT_TIMEOUT_MS = 4_000;

export interface CheckedSettings {
  readonly config: Config;
  /** `PAY_TO` as the operator wrote it; undefined with a payments file. */
  readonly writtenPayTo: string | undefined;
}

export interface Check {
  readonly check: string;
  /** The chain that it is about, such as "eip155:8453"; null for the whole service. */
  readonly chain: string | null;
  readonly timeoutMs?: number;
  /** Changes nothing. An error is a failure of the check, and says nothing about the service. */
  run(signal: AbortSignal): Promise<Outcome>;
}

export const firstLineOf = (error: unknown): string => messageOf(error).split('\n')[0] ?? '';

/** Runs `ask` at the first call. Later calls get the same answer. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
