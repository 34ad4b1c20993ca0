// The nonces of a relayer's wallet that several instances use: a row in Postgres is locked for each signature.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { LocalNonces, type Nonces, type NonceTurn, nonceAfter } from '../../payments/nonces.ts';
import type { Database } from '../database/database.ts';

interface SharedNoncesParts {
  db: Database;
  chainId: number;
  /** Of the wallet. */
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
    const { db, chainId, address, clock, log } = this.#parts;
    let done: { result: T } | undefined;
    try {
      return await db.transaction().execute(async (trx) => {
        const { nonce, taken_at: at } = await trx
          .insertInto('relayer_nonces')
          .values({ chain_id: chainId, address, nonce: 0, taken_at: null })
          // Sets nothing, but locks the row and returns it.
          .onConflict((conflict) =>
            conflict
              .columns(['chain_id', 'address'])
              .doUpdateSet((eb) => ({ nonce: eb.ref('relayer_nonces.nonce') })),
          )
          .returning(['nonce', 'taken_at'])
          .executeTakeFirstOrThrow();
        let taken: number | undefined;
        const shared = at === null ? 0 : nonceAfter({ nonce, atMs: at.getTime() }, clock.now());
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
            .set({ nonce: taken, taken_at: new Date(clock.now()) })
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
