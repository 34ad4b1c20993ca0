// Finds the signer of a digest in threads: a flood of signatures would otherwise block the event loop.
import { availableParallelism } from 'node:os';
import { Tinypool } from 'tinypool';
import type { Address, Hex } from 'viem';
import { Refusal } from '../domain/refusal.ts';

/** Further jobs would only be answered too late: this is about one second of work per core. */
const JOBS_MAX = 256;

/** A job takes milliseconds; the first one also waits for its thread, more than five seconds on a machine with ten times too much to do. */
const JOB_TIMEOUT_MS = 15_000;

/** One core stays free for the event loop if there are several. */
const THREADS_MAX = Math.min(4, Math.max(1, availableParallelism() - 1));

/** By then the waiting jobs are done. */
const RETRY_AFTER_SECONDS = 1;

interface SignerJob {
  signer: Address;
  /** Digests of the texts that may have been signed. */
  digests: readonly Hex[];
  /** In its canonical form. */
  signature: Hex;
}

export class SignerPool {
  readonly #options: { thread: URL; threadsMax: number; jobsMax: number; jobTimeoutMs: number };
  #threads: Tinypool | undefined;
  #jobs = 0;

  constructor(options: { thread?: URL; threadsMax?: number; jobsMax?: number; jobTimeoutMs?: number } = {}) {
    this.#options = {
      thread: new URL('signer-thread.mjs', import.meta.url),
      threadsMax: THREADS_MAX,
      jobsMax: JOBS_MAX,
      jobTimeoutMs: JOB_TIMEOUT_MS,
      ...options,
    };
  }

  /** Throws `Refusal` `overloaded` if a job would be refused now. */
  checkRoom(): void {
    if (this.#jobs >= this.#options.jobsMax) throw overloaded();
  }

  /**
   * Whether the signer signed one of the digests. Throws `Refusal` `overloaded` when too many jobs wait, and when this one takes too long;
   * any other error when its thread dies. Threads that hang or die are replaced.
   */
  async isSignedBy(job: SignerJob): Promise<boolean> {
    this.checkRoom();
    this.#jobs += 1;
    const signal = AbortSignal.timeout(this.#options.jobTimeoutMs);
    try {
      this.#threads ??= startThreads(this.#options);
      return (await this.#threads.run(job, { signal })) as boolean;
    } catch (cause) {
      throw signal.aborted ? overloaded(cause) : cause;
    } finally {
      this.#jobs -= 1;
    }
  }

  /** Ends the threads; jobs under way fail. */
  async stop(): Promise<void> {
    await this.#threads?.destroy();
    this.#threads = undefined;
  }
}

/** The pool of this process, which has one event loop to protect. Its threads start with the first job, and do not delay the exit. */
export const signers = new SignerPool();

function startThreads({ thread, threadsMax, jobsMax }: { thread: URL; threadsMax: number; jobsMax: number }) {
  const threads = new Tinypool({
    filename: thread.href,
    // A thread that dies is replaced at once only up to the minimum.
    minThreads: 1,
    maxThreads: threadsMax,
    idleTimeout: 60_000,
    maxQueue: jobsMax,
    // Flags of the program, such as a TypeScript loader, do not apply to the threads.
    execArgv: [],
  });
  // If a thread dies with a job, the job reports it; otherwise the error does not matter.
  threads.on('error', () => undefined);
  return threads;
}

const overloaded = (cause?: unknown): Refusal =>
  new Refusal('overloaded', 'Too many signatures are being checked. Nothing was done. Try again.', {
    cause,
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });
