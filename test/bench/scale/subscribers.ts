// Subscriptions for many numbers at once, written straight into the tables.
import { hashToken, mintToken } from '#control-plane/domain/bearer-token.ts';
import { until } from '../../fixtures/until.ts';
import type { Cluster } from './cluster.ts';
import { numberOf } from './numbered-sims.ts';

export interface Subscriber {
  number: string;
  headers: { Authorization: string };
}

/** Sells the SIMs from 1 to `count`, once their nodes have reported them. */
export async function subscribeMany({ query }: Cluster, count: number): Promise<Subscriber[]> {
  const numbers = Array.from({ length: count }, (_, index) => numberOf(index + 1));
  await until(
    'the numbers are known',
    async () => {
      const [known] = await query<{ count: number }>(
        'select count(*)::int from numbers where number = any($1::text[])',
        [numbers],
      );
      return known?.count === count;
    },
    30_000,
  );
  const tokens = numbers.map(() => mintToken());
  await query(
    `with sold as (
      insert into subscriptions (id, wallet, number, created_at, expires_at)
      select 'sub_' || n, '0x' || lpad(to_hex(n), 40, '0'), number, now(), now() + interval '1 year'
      from unnest($1::text[]) with ordinality as sold (number, n) returning id, number
    ), bound as (
      update sims set bound_to = sold.id from numbers join sold on sold.number = numbers.number
      where sims.iccid = numbers.iccid
    )
    select`,
    [numbers],
  );
  await query(
    `insert into tokens (hash, subscription_id, created_at)
    select hash, 'sub_' || n, now() from unnest($1::bytea[]) with ordinality as token (hash, n)`,
    [tokens.map((token) => hashToken(token))],
  );
  return numbers.map((number, index) => ({
    number,
    headers: { Authorization: `Bearer ${tokens[index]}` },
  }));
}
