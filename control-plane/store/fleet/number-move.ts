// A number that gets another card: the carrier replaced a dead one. A subscriber keeps the number, its texts and its year.
import { hasLuhnDigit } from '#shared/identities.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { type Database, type DatabaseTransaction, inTransaction } from '../database/database.ts';
import { replaceCard } from './card-replacement.ts';
import { keepFormerCard } from './holdings.ts';
import { clearUnadmitted } from './number-admission.ts';
import { lockReservations } from './number-pool.ts';
import { lockOpenTenures, proveHolder } from './sim-proof.ts';
import type { SlotPlace } from './slot-service.ts';

/** The new card: its ICCID, or the slot that reports it. */
export type Card = { iccid: string } | SlotPlace;

/**
 * Texts that were read from the former card and arrive later still belong to its subscriber. Returns both cards, and what the fleet
 * file says of the former one that counts for the new one now. Throws `OperatorRefusal` if the
 * number is unknown or has this card, if the card has another number, if its check digit is wrong and no node reports it, and if the slot
 * reports no card, or not the `expected` one.
 */
export async function moveNumber(
  db: Database,
  { number, card, expected, now }: { number: string; card: Card; expected?: string | undefined; now: Date },
): Promise<{ from: string; to: string; taken: string[] }> {
  return inTransaction(db, async (trx) => {
    const to = await cardOf(trx, card);
    await lockOpenTenures(trx, [to]);
    await lockReservations(trx);
    if ((await cardOf(trx, card)) !== to || (expected !== undefined && expected !== to))
      throw new OperatorRefusal('The card was exchanged at the same moment. Run the command again.');
    const row = await trx
      .selectFrom('numbers')
      .select('iccid')
      .where('number', '=', number)
      .where('retired_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) throw new OperatorRefusal(`There is no number ${number}.`);
    if (row.iccid === to) {
      const advice =
        'iccid' in card
          ? 'Give the ICCID of the new card.'
          : 'If you have just exchanged the card, wait until the node has reported the new card, 30 seconds at most.';
      throw new OperatorRefusal(`${number} already has the SIM ${to}. ${advice}`);
    }
    await clearUnadmitted(trx, [{ number: '', iccid: to }]);
    const other = await trx
      .selectFrom('numbers')
      .select('number')
      .where('iccid', '=', to)
      .where('retired_at', 'is', null)
      .executeTakeFirst();
    if (other !== undefined)
      throw new OperatorRefusal(`The SIM ${to} has the number ${other.number}. Retire that number first.`);
    if (!hasLuhnDigit(to) && !(await isReported(trx, to)))
      throw new OperatorRefusal(`The ICCID ${to} has a wrong check digit. Compare it with the card.`);
    await trx.deleteFrom('former_cards').where('iccid', '=', to).execute();
    await keepFormerCard(trx, { number, now });
    await trx
      .updateTable('numbers')
      .set({ iccid: to, unadmitted_since: null, disputed_since: null, unproven: 'moved', first_node: null })
      .where('number', '=', number)
      .execute();
    if (!('iccid' in card)) await proveHolder(trx, to);
    const taken = await replaceCard(trx, { from: row.iccid, to, now });
    return { from: row.iccid, to, taken };
  });
}

/** The ICCID of a card. Throws `OperatorRefusal` if the slot reports none. */
export async function cardOf(db: Database, card: Card): Promise<string> {
  if ('iccid' in card) return card.iccid;
  const { node, slot } = card;
  const sim = await db
    .selectFrom('sims')
    .select('iccid')
    .where('node_id', '=', node)
    .where('slot', '=', slot)
    .executeTakeFirst();
  if (sim !== undefined) return sim.iccid;
  throw new OperatorRefusal(
    `${node} holds no SIM in ${slot}. See "${ownCommand('control-plane')} slot list".`,
  );
}

/** A node holds the card: then its ICCID is no typing error. */
async function isReported(trx: DatabaseTransaction, iccid: string): Promise<boolean> {
  const sim = await trx.selectFrom('sims').select('iccid').where('iccid', '=', iccid).executeTakeFirst();
  return sim !== undefined;
}
