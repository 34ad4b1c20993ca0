// Whether other instances may use the same database: only those that can speak with one another.
import type { Client } from 'pg';
import { type Clock, sleep, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { Primary } from './primary.ts';
import { SchemaRefusal, sayRunning } from './schema-versions.ts';

/** Key of this service among the advisory locks of a database. */
const LOCK = 7_236_845_012;

/** A predecessor that was killed may still be connected. */
const WAIT_MS = 5_000;
const RETRY_MS = 250;
const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 5_000;
const END_TIMEOUT_MS = 2_000;
/** A server that vanished does not end the connection. */
const CHECK_MS = 7_000;

interface InstanceLockParts {
  /** May name several servers. */
  url: string;
  /** Shared: beside other instances that share it. Else alone. */
  isShared: boolean;
  /** The newest migration that this program knows. */
  migration: string;
  /** Why this program cannot work with the schema; undefined if it can. A newer instance does not see this one while it is without the lock. */
  refusal: () => Promise<string | undefined>;
  clock: Clock;
  log: Logger;
}

class OtherInstance extends Error {
  override name = 'OtherInstance';
}

/**
 * Holds the lock in a transaction on a connection of its own, which works through a pooler in transaction mode and ends with this process.
 * If the connection breaks, it is taken again, and the schema checked. Throws `OtherInstance` when an instance that cannot be spoken
 * with uses the database.
 */
export class InstanceLock {
  readonly #parts: InstanceLockParts;
  readonly #primary: Primary;
  readonly #stopped = new AbortController();
  #client: Client | undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when the schema no longer serves this program. */
  readonly failed = new Promise<never>((_resolve, reject) => {
    this.#fail = reject;
  });

  private constructor(parts: InstanceLockParts) {
    this.#parts = parts;
    this.#primary = new Primary(parts.url);
    this.failed.catch(() => undefined);
  }

  static async take(parts: InstanceLockParts): Promise<InstanceLock> {
    const lock = new InstanceLock(parts);
    for (let leftMs = WAIT_MS; !(await lock.#take()); leftMs -= RETRY_MS) {
      if (leftMs <= 0) throw new OtherInstance(problemOf(parts));
      await sleep(parts.clock, RETRY_MS);
    }
    return lock;
  }

  async release(): Promise<void> {
    this.#stopped.abort();
    await this.#end(this.#client);
  }

  /** False when others have it. */
  async #take(): Promise<boolean> {
    const client = await this.#primary.connect({
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'simrack-instance-lock',
    });
    try {
      await client.query('begin');
      await client.query('set local idle_in_transaction_session_timeout = 0');
      const take = this.#parts.isShared ? 'pg_try_advisory_xact_lock_shared' : 'pg_try_advisory_xact_lock';
      const { rows } = await client.query<{ taken: boolean }>(`select ${take}($1::bigint) as taken`, [LOCK]);
      if (rows[0]?.taken !== true) {
        await this.#end(client);
        return false;
      }
      await client.query(sayRunning(this.#parts.migration));
    } catch (error) {
      await this.#end(client);
      throw error;
    }
    if (this.#stopped.signal.aborted) {
      await this.#end(client);
      return true;
    }
    this.#client = client;
    const left = new AbortController();
    client.once('end', () => {
      left.abort();
      this.#primary.suspect();
      void this.#takeAgain();
    });
    void this.#check(client, left.signal);
    return true;
  }

  /** Ends a connection that does not answer. */
  async #check(client: Client, left: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const over = AbortSignal.any([left, this.#stopped.signal]);
    for (;;) {
      await sleep(clock, CHECK_MS, over).catch(() => undefined);
      if (over.aborted) return;
      await client.query('select 1').catch(() => this.#end(client));
    }
  }

  /** A server that hangs does not keep the service from its end. */
  async #end(client: Client | undefined): Promise<void> {
    const ended = client?.end();
    if (ended === undefined) return;
    await withTimeout(this.#parts.clock, ended, END_TIMEOUT_MS, () => new Error('no answer')).catch(
      () => undefined,
    );
  }

  async #takeAgain(): Promise<void> {
    const { clock, log } = this.#parts;
    let isLogged = false;
    while (!this.#stopped.signal.aborted) {
      const isTaken = await this.#take().catch(() => undefined);
      if (isTaken === true) return this.#checkSchema();
      if (isTaken === false && !isLogged) log.error({}, problemOf(this.#parts));
      isLogged ||= isTaken === false;
      await sleep(clock, RECONNECT_MS);
    }
  }

  /** Asks until the database answers. */
  async #checkSchema(): Promise<void> {
    const { clock, refusal } = this.#parts;
    while (!this.#stopped.signal.aborted) {
      const answer = await refusal().then(
        (message) => ({ message }),
        () => undefined,
      );
      if (answer?.message !== undefined) this.#fail(new SchemaRefusal(answer.message));
      if (answer !== undefined) return;
      await sleep(clock, RECONNECT_MS);
    }
  }
}

const problemOf = ({ isShared }: InstanceLockParts): string =>
  isShared
    ? 'another instance without NATS_URL uses this database: stop it, or set NATS_URL for it, too'
    : 'another instance uses this database: stop it, or set the same NATS_URL for all instances';
