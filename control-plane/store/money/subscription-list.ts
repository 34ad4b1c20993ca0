// Subscriptions as operators see them.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { SERVICE_STATES } from '#shared/operator/slot-health.ts';
import type { SubscriptionState } from '../../domain/subscription.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import { allOf, contains, readPage, type Sort, sortedPage, textOrder } from '../database/sorted-page.ts';
import { SERVICE_ROWS } from '../fleet/sold-numbers.ts';

/** The columns that subscriptions can be sorted by. */
export const SUBSCRIPTION_SORTS = {
  id: sql`listed.id`,
  number: textOrder('number'),
  state: textOrder('service'),
  node: textOrder('node'),
  slot: textOrder('slot'),
  carrier: textOrder('carrier'),
  wallet: textOrder('wallet'),
  since: sql`listed.created_at`,
  until: sql`listed.expires_at`,
};

interface SubscriptionQuery {
  id?: string | undefined;
  state?: SubscriptionState | undefined;
  wallet?: string | undefined;
  number?: string | undefined;
  /** That serves the number. */
  node?: string | undefined;
  /** As modems report them. */
  carriers?: readonly string[] | undefined;
  /** Created at this time or later, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
  /** Part of an id, number, wallet, label, ICCID, IMEI, node or slot. */
  find?: string | undefined;
  sort?: Sort<keyof typeof SUBSCRIPTION_SORTS> | undefined;
  /** The last id of the previous page. */
  after?: string | undefined;
  limit: number;
}

export const subscriptionRowSchema = z.object({
  id: z.string(),
  number: z.string(),
  wallet: z.string(),
  created_at: timeOutput,
  expires_at: timeOutput,
  /** Service of its number. */
  service: z.enum(SERVICE_STATES),
  /** Why its number has no service, as the node reports it. */
  reason: z.string().nullable(),
  /** Where its SIM is, or was last. */
  node: z.string().nullable(),
  slot: z.string().nullable(),
  /** False if `node` and `slot` are where its SIM was last. */
  is_present: z.boolean(),
  /** The network of its SIM, or the last one, as its modem reports it. */
  carrier: z.string().nullable(),
  iccid: z.string().nullable(),
  imei: z.string().nullable(),
  /** The operator's name for the card. */
  label: z.string().nullable(),
});
export type SubscriptionRow = z.output<typeof subscriptionRowSchema>;

/** Newest first unless `sort` is given; one more than `limit` when there are more. */
export async function listSubscriptions(
  db: Database,
  asked: SubscriptionQuery,
  now: Date,
): Promise<SubscriptionRow[]> {
  const { id, state, wallet, number, node, carriers, since, until, find, after, limit } = asked;
  const page = sortedPage({
    key: ['id'],
    sorts: SUBSCRIPTION_SORTS,
    sort: asked.sort ?? NEWEST_FIRST,
    after: after === undefined ? undefined : [after],
    // A CTE that is read twice would be computed whole.
    source: asked.sort === undefined ? sql`subscriptions as listed` : sql`listed`,
  });
  return readPage(page, (where) =>
    db
      .with('listed', (listed) =>
        listed
          .selectFrom('subscriptions')
          .innerJoin(SERVICE_ROWS(now).as('service'), 'service.subscription_id', 'subscriptions.id')
          .leftJoin('cards', 'cards.iccid', 'service.iccid')
          .select(['id', 'number', 'wallet', 'created_at', 'expires_at', 'cards.label'])
          .select(['service.state as service', 'service.reason', 'service.node', 'service.slot'])
          .select(['service.carrier', 'service.iccid', 'service.imei', 'service.is_present']),
      )
      .selectFrom('listed')
      .selectAll()
      .where(where)
      .where(
        allOf([
          id === undefined ? undefined : sql<boolean>`listed.id = ${id}`,
          state === undefined
            ? undefined
            : sql<boolean>`listed.expires_at ${state === 'expired' ? sql`<=` : sql`>`} ${now}::timestamptz`,
          state === 'down' ? sql<boolean>`listed.service <> 'registered'` : undefined,
          wallet === undefined ? undefined : sql<boolean>`listed.wallet = ${wallet.toLowerCase()}`,
          number === undefined ? undefined : sql<boolean>`listed.number = ${number}`,
          node === undefined ? undefined : sql<boolean>`listed.node = ${node}`,
          carriers === undefined ? undefined : sql<boolean>`listed.carrier = ${anyOf(carriers)}`,
          since === undefined ? undefined : sql<boolean>`listed.created_at >= ${since}::timestamptz`,
          until === undefined ? undefined : sql<boolean>`listed.created_at < ${until}::timestamptz`,
          find === undefined
            ? undefined
            : contains(['id', 'number', 'wallet', 'label', 'iccid', 'imei', 'node', 'slot'], find),
        ]),
      )
      .orderBy(page.order)
      .limit(limit + 1)
      .execute(),
  );
}

const NEWEST_FIRST: Sort<'since'> = { by: 'since', isDescending: true };
