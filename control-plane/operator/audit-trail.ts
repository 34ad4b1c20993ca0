// Does what an operator asks for, and writes down the request and its result.
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { Database } from '../store/database/database.ts';
import { type AuditEntry, endAudit, insertAudit } from '../store/operations/audit-log.ts';

type Asked = Omit<AuditEntry, 'at' | 'result' | 'why'>;

/** Said of a fault of ours, whose text may hold anything. */
const FAULT = 'a fault: see the log';

export class AuditTrail {
  readonly #db: Database;
  readonly #now: () => Date;

  constructor(db: Database, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  /** A change of the database: it and its entry are there, or neither is. */
  async change<T>(asked: Asked, work: (trx: Database) => Promise<T>): Promise<T> {
    try {
      return await this.#db.transaction().execute(async (trx) => {
        const answer = await work(trx);
        await insertAudit(trx, { ...asked, at: this.#now(), result: 'ok' });
        return answer;
      });
    } catch (error) {
      // Where even that fails, the first error says more.
      await insertAudit(this.#db, { ...asked, at: this.#now(), ...endOf(error) }).catch(() => undefined);
      throw error;
    }
  }

  /** A command to a node: noted before it is tried, and its end after; a process that dies between leaves it `begun`. */
  async command<T>(asked: Asked, work: (db: Database) => Promise<T>): Promise<T> {
    const id = await insertAudit(this.#db, { ...asked, at: this.#now(), result: 'begun' });
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

const endOf = (error: unknown): Pick<AuditEntry, 'result' | 'why'> =>
  error instanceof OperatorRefusal
    ? { result: 'refused', why: error.message }
    : { result: 'failed', why: FAULT };
