// A year of a service with ten thousand numbers, written straight into the tables. `rows` is the number of messages; calls and payments
// are a part of it, everything else is the same for any number.
import { Client } from 'pg';
import { openDatabase } from '#control-plane/store/database/database.ts';

export const NUMBERS = 10_000;
export const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;
const SLOTS_A_NODE = 64;

/** A node keeps a thousand events: as many on each side. */
const EVENTS = 1_000 * Math.ceil(NUMBERS / SLOTS_A_NODE);

/** Subscriptions with messages: as many on each side, so that only the size of the table differs. The first one has a tenth of all. */
export const ACTIVE = 40;

/** Texts of the year that were never claimed, about: as many on each side. */
const UNCLAIMED = 200;

/** The tables with a row for each event of the year. */
const GROWING = ['messages', 'calls', 'node_events', 'payments', 'payment_events'];

export const subscriptionId = (index: number): string => `sub_${index}`;
export const iccidOf = (index: number): string => `8901${String(index).padStart(15, '0')}`;
export const numberOf = (index: number): string => `+1206${5_550_000 + index}`;

/** Fills an empty database. It has no statistics of its tables afterwards. */
export async function fillYear(databaseUrl: string, rows: number, now: Date): Promise<void> {
  const { close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  await close();
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Rows are consistent, and checking each would take an hour.
    await client.query(`set session_replication_role = replica; set synchronous_commit = off;
      set maintenance_work_mem = '512MB'; set time zone 'UTC'`);
    for (const table of GROWING) await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await fillFleet(client, now);
    const restoreIndexes = await dropIndexes(client);
    await client.query('select setseed(0.5)');
    for (const statement of statements(rows, now)) await client.query(statement);
    await restoreIndexes();
  } finally {
    await client.end();
  }
}

/** As autovacuum leaves them, and with autovacuum from now on. */
export async function vacuum(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('vacuum analyze');
  for (const table of GROWING) await client.query(`alter table ${table} reset (autovacuum_enabled)`);
  await client.query('checkpoint');
  await client.end();
}

async function fillFleet(client: Client, now: Date): Promise<void> {
  const at = `'${now.toISOString()}'::timestamptz`;
  const node = `'node-' || (n - 1) / ${SLOTS_A_NODE}`;
  const slot = `'m' || (n - 1) % ${SLOTS_A_NODE} + 1`;
  const each = `from generate_series(1, ${NUMBERS}) n`;
  const iccid = "'8901' || lpad(n::text, 15, '0')";
  const number = "'+1206' || 5550000 + n";
  for (const statement of [
    `insert into nodes (id, enrolled_at, link_alive_until) select distinct ${node}, ${at}, ${at} + interval '1 day' ${each}`,
    `insert into numbers (number, iccid, created_at) select ${number}, ${iccid}, ${at} - interval '1 year' ${each}`,
    `insert into sims (iccid, node_id, slot, state, updated_at, bound_to, swept_at)
      select ${iccid}, ${node}, ${slot}, 'registered', ${at}, 'sub_' || n, ${at} ${each}`,
    `insert into slots (node_id, slot, state, iccid) select ${node}, ${slot}, 'registered', ${iccid} ${each}`,
    `insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since)
      select ${iccid}, ${node}, ${slot}, ${at}, 'present', ${at} ${each}`,
    `insert into subscriptions (id, wallet, number, created_at, expires_at) select 'sub_' || n,
      '0x' || lpad(to_hex(n), 40, '0'), ${number}, ${at} - interval '1 year', ${at} + interval '1 month' ${each}`,
  ])
    await client.query(statement);
}

/** An index that grows row by row takes ten times as long as one that is built. */
async function dropIndexes(client: Client): Promise<() => Promise<void>> {
  const { rows: constraints } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'u' and conrelid::regclass::text = any($1)`,
    [GROWING],
  );
  for (const { table, name } of constraints)
    await client.query(`alter table ${table} drop constraint ${name}`);
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where tablename = any($1)
      and indexname not in (select conname from pg_constraint)`,
    [GROWING],
  );
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  return async () => {
    for (const { definition } of indexes) await client.query(definition);
    for (const { table, name, definition } of constraints)
      await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  };
}

function statements(rows: number, now: Date): string[] {
  const some = (share: number): number => Math.max(10, Math.round(rows * share));
  /** The `n`th of `count` moments of the year. */
  const time = (count: number): string =>
    `'${now.toISOString()}'::timestamptz - interval '${YEAR_DAYS} days' * (1 - n::float / ${count})`;
  const subscriber = `case when random() < 0.1 then 1 else 2 + floor(${ACTIVE - 1} * random())::int end`;
  const peer = `'+1310555' || lpad((n % 10000)::text, 4, '0')`;
  const text = `left(repeat('Your code is ' || n || '. Do not share it with anyone. ', 4), 20 + n % 140)`;
  const calls = some(0.25);
  const payments = some(0.01);
  return [
    `insert into messages (subscription_id, direction, from_number, to_number, body, message_id, status, command_id,
      command_node_id, fact_key, created_at, received_at, delivered_at)
    select 'sub_' || s, case when is_sent then 'sent' else 'received' end,
      case when is_sent then '+1206' || 5550000 + s else ${peer} end,
      case when is_sent then ${peer} else '+1206' || 5550000 + s end, ${text},
      case when is_sent then md5(n::text) || '.' || n % 256 end, case when is_sent then 'delivered' end,
      case when is_sent then md5(n::text) end, case when is_sent then 'node-' || (s - 1) / ${SLOTS_A_NODE} end,
      case when not is_sent then 'node-' || (s - 1) / ${SLOTS_A_NODE} || '/journal/' || n end,
      at, case when not is_sent then at end, case when not is_sent and n % ${Math.round(rows / UNCLAIMED)} <> 0 then at end
    from (select n, ${subscriber} as s, n % 3 = 0 as is_sent, ${time(rows)} as at
      from generate_series(1, ${rows}) n) as each`,
    `insert into calls (id, subscription_id, number, iccid, node_id, direction, peer, state, started_at, answered_at,
      ended_at, up_at, reason, cause, ended_by_node, seen_at, audio)
    select md5('call' || n), 'sub_' || s, '+1206' || 5550000 + s, '8901' || lpad(s::text, 15, '0'),
      'node-' || (s - 1) / ${SLOTS_A_NODE}, case n % 2 when 0 then 'inbound' else 'outbound' end, ${peer}, 'ended',
      at, at, at + interval '1 minute', at + interval '1 minute', 'remote', 16, true, at, '{"captured_frames": 3000, "played_frames": 3000}'
    from (select n, ${subscriber} as s, ${time(calls)} as at from generate_series(1, ${calls}) n) as each`,
    `insert into node_events (node_id, slot, kind, detail, at, received_at)
    select 'node-' || (n - 1) / ${SLOTS_A_NODE} % ${Math.ceil(NUMBERS / SLOTS_A_NODE)}, 'm' || (n - 1) % ${SLOTS_A_NODE} + 1,
      'state', 'registered', ${time(EVENTS)}, ${time(EVENTS)} from generate_series(1, ${EVENTS}) n`,
    `insert into payments (id, chain_id, asset, payer, nonce, pay_to, value, valid_after, valid_before, signature, state,
      subscription_id, created_at, updated_at, transfer_hash, final_at)
    select 'pay_' || n, 8453, '0xasset', '0x' || lpad(to_hex(s), 40, '0'), md5('nonce' || n), '0xpayto', 10000000, 0,
      2000000000, md5('signature' || n), case when is_applied then 'applied' else 'released' end,
      case when is_applied then 'sub_' || s end, at, at, case when is_applied then md5('transfer' || n) end,
      case when is_applied then at end
    from (select n, 1 + n % ${NUMBERS} as s, n % 10 = 0 as is_applied, ${time(payments)} as at
      from generate_series(1, ${payments}) n) as each`,
    `insert into payment_events (payment_id, state, at)
    select id, unnest(array['claimed', 'in_flight', state]), created_at from payments order by created_at`,
  ];
}
