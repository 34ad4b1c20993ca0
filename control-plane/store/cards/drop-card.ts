// A card that has left the fleet: the service forgets what the fleet file has said of it.
import { OperatorRefusal } from '../../domain/refusal.ts';
import { type Database, inTransaction } from '../database/database.ts';
import { type Card, cardOf } from '../fleet/number-move.ts';

/** Its stored months stay. Returns the ICCID. Throws `OperatorRefusal` for a card with a number, and for one that has no entry. */
export const dropCard = (db: Database, card: Card): Promise<string> =>
  inTransaction(db, async (trx) => {
    const iccid = await cardOf(trx, card);
    const owner = await trx
      .selectFrom('numbers')
      .select('number')
      .where('iccid', '=', iccid)
      .where('retired_at', 'is', null)
      .executeTakeFirst();
    if (owner !== undefined)
      throw new OperatorRefusal(`The SIM ${iccid} has the number ${owner.number}. Retire that number first.`);
    const dropped = await trx
      .deleteFrom('cards')
      .where('iccid', '=', iccid)
      .returning('iccid')
      .executeTakeFirst();
    if (dropped === undefined) throw new OperatorRefusal(`No fleet file has named the SIM ${iccid}.`);
    return iccid;
  });
