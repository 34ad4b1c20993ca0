// Does what an operator asks for, and writes down the request and its result.
import { OperatorError, resultOf } from '#shared/operator/operator-error.ts';
import type { Database } from '../store/database/database.ts';
import { type AuditEntry, endAudit, insertAudit } from '../store/operations/audit-log.ts';

type Entry = Omit<AuditEntry, 'at' | 'result' | 'why' | 'detail'>;
type DetailOf<T> = (answer?: T) => AuditEntry['detail'];

/** Said of a fault of ours, whose text may hold anything. */
const FAULT = 'internal error: see the log';

export class AuditTrail {
  readonly #db: Database;
  readonly #now: () => Date;

  constructor(db: Database, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  /** A change of the database: it and its entry are there, or neither is. */
  async change<T>(entry: Entry, detailOf: DetailOf<T>, work: (trx: Database) => Promise<T>): Promise<T> {
    try {
      return await this.#db.transaction().execute(async (trx) => {
        const answer = await work(trx);
        await insertAudit(trx, { ...entry, detail: detailOf(answer), at: this.#now(), result: 'ok' });
        return answer;
      });
    } catch (error) {
      // Where even that fails, the first error says more.
      const asked = { ...entry, detail: detailOf(), at: this.#now() };
      await insertAudit(this.#db, { ...asked, ...endOf(error) }).catch(() => undefined);
      throw error;
    }
  }

  /** A command to a node: noted before it is tried, and its end after; a process that dies between leaves it `begun`. */
  async command<T>(entry: Entry, detailOf: DetailOf<T>, work: (db: Database) => Promise<T>): Promise<T> {
    const id = await insertAudit(this.#db, {
      ...entry,
      detail: detailOf(),
      at: this.#now(),
      result: 'begun',
    });
    try {
      const answer = await work(this.#db);
      await endAudit(this.#db, id, { result: 'ok' });
      return answer;
    } catch (error) {
      await endAudit(this.#db, id, endOf(error)).catch(() => undefined);
      throw error;
    }
  }
}

const endOf = (error: unknown): Pick<AuditEntry, 'result' | 'why'> => ({
  result: resultOf(error),
  why: error instanceof OperatorError ? error.message : FAULT,
});
