// The statements that a process sends to Postgres, and those among them that read a whole table that grows.
import pg from 'pg';

/** Tables with a row for each message, call, payment and so on of years: ten million rows and more. */
const GROWING = [
  'audit_log',
  'calls',
  'ended_earnings',
  'fleet_samples',
  'former_cards',
  'messages',
  'node_events',
  'node_samples',
  'nonces',
  'opt_outs',
  'payment_events',
  'payments',
  'probes',
  'receipts',
  'recent_sends',
  'sending_warnings',
  'sent_texts',
  'sim_months',
  'tokens',
  'unreadable_messages',
  'webhook_deliveries',
  'webhooks',
];

/** Tables that stay small: a whole read of them is cheap. */
const SMALL = [
  // A row or a few for each node, slot, SIM and number.
  'cards',
  'former_holdings',
  'journals',
  'link_proofs',
  'node_refusals',
  'nodes',
  'number_rivals',
  'numbers',
  'pool',
  'sim_claims',
  'sim_tenures',
  'sims',
  'slot_service',
  'slots',
  'unreached_sims',
  // For each subscription at most.
  'last_received',
  'message_retention',
  'subscriptions',
  'waitlist',
  'waitlist_mailed',
  // For each act of a person and each alert, kept for a limited time.
  'alert_messages',
  'alert_tidings',
  'alerts',
  'operator_sessions',
  'operators',
  'refunds',
  'waiting_facts',
  // Tables of the service.
  'probe_turn',
  'receipt_keys',
  'relayer_nonces',
  'schema_versions',
  'secrets',
];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

/** A statement as it was sent. */
interface Statement {
  text: string;
  values: unknown[];
}

/** Collects each statement once, and once more for other values that are null: these change its plan. The values are those of the first use. */
export function collectStatements(): Map<string, Statement> {
  const seen = new Map<string, Statement>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function collected(this: pg.Client, ...given: unknown[]) {
    const [text, bound] = given;
    const values: unknown[] = Array.isArray(bound) ? bound : [];
    const key = JSON.stringify([text, values.map((value) => value === null)]);
    if (typeof text === 'string' && !seen.has(key)) seen.set(key, { text, values });
    return (query as (...args: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  return seen;
}

/** The statements for which Postgres has no index to go by: it must read the whole table, also where that is large. */
export async function wholeReads(
  databaseUrl: string,
  statements: ReadonlyMap<string, Statement>,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: unjudged } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%'
      and tablename <> all ($1)`,
      [[...GROWING, ...SMALL]],
    );
    if (unjudged.length > 0)
      throw new Error(`do these grow? add them to a list: ${unjudged.map(({ name }) => name).join(', ')}`);
    // In a test all tables are small, and reading them whole is cheapest.
    await client.query('set enable_seqscan = off');
    const found: string[] = [];
    for (const { text, values } of [...statements.values()]) {
      if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) continue;
      const { rows } = await client.query(`explain (format json) ${text}`, values);
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }];
      const tables = wholeTables(plan, false);
      if (tables.length > 0) found.push(`${tables.join(', ')}: ${text}`);
    }
    return found;
  } finally {
    await client.end();
  }
}

/** `isLimited`: only the first rows of an order are wanted. */
function wholeTables(plan: Plan, isLimited: boolean): string[] {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition, Plans: inner = [] } = plan;
  const isWhole =
    GROWING.includes(table) &&
    (type === 'Seq Scan' || (/^Index/.test(type) && condition === undefined && !isLimited));
  const below = inner.flatMap((each) => wholeTables(each, isLimited || type === 'Limit'));
  return isWhole ? [table, ...below] : below;
}
