// The nonces of a relayer's wallet that several instances use: a row in Postgres is locked for each signature. The database's clock times
// them: those of the instances may differ.
import { sql } from 'kysely';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { LocalNonces, type Nonces, type NonceTurn, nonceAfter } from '../../payments/nonces.ts';
import type { Database } from '../database/database.ts';

interface SharedNoncesParts {
  db: Database;
  chainId: number;
  /** Address of the wallet. */
  address: string;
  clock: Clock;
  log: Logger;
}

export class SharedNonces implements Nonces {
  readonly #parts: SharedNoncesParts;
  /** One signature of this instance at a time waits for the row, with one connection. */
  readonly #own: LocalNonces;

  constructor(parts: SharedNoncesParts) {
    this.#parts = { ...parts, address: parts.address.toLowerCase() };
    this.#own = new LocalNonces(parts.clock);
  }

  inTurn<T>(work: (turn: NonceTurn) => Promise<T>): Promise<T> {
    return this.#own.inTurn((own) => this.#withRow(own, work));
  }

  async #withRow<T>(own: NonceTurn, work: (turn: NonceTurn) => Promise<T>): Promise<T> {
    const { db, chainId, address, log } = this.#parts;
    let done: { result: T } | undefined;
    try {
      return await db.transaction().execute(async (trx) => {
        const { nonce, ageMs } = await trx
          .insertInto('relayer_nonces')
          .values({ chain_id: chainId, address, nonce: 0, taken_at: null })
          // Locks the row and returns it. Changes it only if the database's clock was set back: the memory begins again, and ends.
          .onConflict((conflict) =>
            conflict
              .columns(['chain_id', 'address'])
              // Not least(): it ignores null, and a nonce that was never taken would count.
              .doUpdateSet({
                taken_at: sql`case when relayer_nonces.taken_at > clock_timestamp() then clock_timestamp()
                  else relayer_nonces.taken_at end`,
              }),
          )
          .returning([
            'nonce',
            sql<number | null>`(extract(epoch from clock_timestamp() - taken_at) * 1000)::float8`.as('ageMs'),
          ])
          .executeTakeFirstOrThrow();
        let taken: number | undefined;
        const shared = ageMs === null ? 0 : nonceAfter({ nonce, ageMs });
        const result = await work({
          nonceMin: Math.max(own.nonceMin, shared),
          taken(accepted) {
            own.taken(accepted);
            taken = accepted;
          },
        });
        done = { result };
        if (taken !== undefined)
          await trx
            .updateTable('relayer_nonces')
            .set({ nonce: taken, taken_at: sql`clock_timestamp()` })
            .where('chain_id', '=', chainId)
            .where('address', '=', address)
            .execute();
        return result;
      });
    } catch (error) {
      if (done === undefined) throw error;
      // The signed transaction stays. The RPC counts its nonce within a moment.
      log.warn({ err: error, chainId }, 'the nonce of a transaction was not recorded');
      return done.result;
    }
  }
}
