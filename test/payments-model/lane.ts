// A database of its own, in which sequences run one after the other, each with nothing left of the one before.
import { createHash } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool, types } from 'pg';
import type { PaymentState } from '#control-plane/payments/payment.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import { insertNumbersOnSale } from '../fixtures/database/number-pool.ts';

const NUMBERS_MAX = 3;
const INT8_OID = 20;
/** After this many sequences the tables are created again: deleted rows slow every statement down. */
const SEQUENCES_UNTIL_TRUNCATED = 200;

export interface PaymentRow {
  nonce: string;
  payer: string;
  state: PaymentState;
  reservedNumber: string | null;
  transferHash: string | null;
  transactionHash: string | null;
  isFinal: boolean;
  updatedAtMs: number;
}

export interface SubscriptionRow {
  wallet: string;
  number: string;
  createdAtMs: number;
  expiresAtMs: number;
}

export interface Lane {
  db: Database;
  /** Forgets all payments, and puts that many numbers on sale. */
  reset(numbersOnSale: number): Promise<void>;
  payments(): Promise<PaymentRow[]>;
  subscriptions(): Promise<SubscriptionRow[]>;
  close(): Promise<void>;
}

/** `url`: of a database that has the tables. */
export async function openLane(url: string): Promise<Lane> {
  const db = preparedDatabase(url);
  await insertNumbersOnSale(db, NUMBERS_MAX);
  let sequences = 0;
  return {
    db,

    async reset(numbersOnSale) {
      sequences += 1;
      if (sequences % SEQUENCES_UNTIL_TRUNCATED === 0)
        await sql`truncate payment_events, payments, subscriptions cascade`.execute(db);
      await sql`delete from payment_events`.execute(db);
      await sql`delete from payments`.execute(db);
      await sql`delete from subscriptions`.execute(db);
      await sql`update numbers set out_of_service_at = case
        when number < ${`+1206555000${numbersOnSale}`} then null else now() end`.execute(db);
    },

    async payments() {
      const { rows } = await sql<PaymentRow>`select nonce, payer, state, reserved_number as "reservedNumber",
        transfer_hash as "transferHash", transaction_hash as "transactionHash", final_at is not null as "isFinal",
        (extract(epoch from updated_at) * 1000)::float8 as "updatedAtMs" from payments order by created_at, id`.execute(
        db,
      );
      return rows;
    },

    async subscriptions() {
      const { rows } = await sql<SubscriptionRow>`select wallet, number,
        (extract(epoch from created_at) * 1000)::float8 as "createdAtMs",
        (extract(epoch from expires_at) * 1000)::float8 as "expiresAtMs" from subscriptions`.execute(db);
      return rows;
    },

    close: () => db.destroy(),
  };
}

/** One connection, on which each statement is parsed and planned once. */
function preparedDatabase(connectionString: string): Database {
  const pool = new Pool({
    connectionString,
    max: 1,
    types: {
      // As the service reads them.
      getTypeParser: ((oid: number, format: 'text') =>
        oid === INT8_OID ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
    },
  });
  // The server goes away while idle connections are still closing.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? createHash('sha1').update(text).digest('hex');
    names.set(text, name);
    return name;
  };
  return new Kysely({
    dialect: new PostgresDialect({
      pool: {
        end: () => pool.end(),
        async connect() {
          const client = await pool.connect();
          return {
            query: (async (text: string, values: unknown[]) =>
              client.query({ name: nameOf(text), text, values })) as never,
            release: () => client.release(),
          };
        },
      },
    }),
  });
}
