// Finds the server that takes writes, among those that DATABASE_URL names, and recognizes a former primary.
import { Client, type ClientConfig } from 'pg';
import { serverUrls } from './database-url.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const ANSWER_TIMEOUT_MS = 2_000;

class NoPrimary extends Error {
  override name = 'NoPrimary';
}

interface ServerIdentity {
  /** Timeline of its log: each promotion begins the next one. Undefined if the server does not say. */
  timeline: number | undefined;
  /** Identifies servers that are copies of each other. */
  system: string | undefined;
}

type Asked = Pick<Client, 'query'>;

export class Primary {
  readonly #urls: readonly string[];
  #found: string | undefined;
  #search: Promise<string> | undefined;
  /** The newest timeline of each system. */
  readonly #timelines = new Map<string, number>();
  #changes = 0;

  /** `url` may name several servers. */
  constructor(url: string) {
    this.#urls = serverUrls(url);
  }

  /** Counts how often the primary was another server than before. */
  get changes(): number {
    return this.#changes;
  }

  /** The URL of the primary. Throws `NoPrimary`, or why the only server cannot be used. */
  async find(): Promise<string> {
    const [only, ...others] = this.#urls;
    if (only !== undefined && others.length === 0) return only;
    if (this.#found !== undefined) return this.#found;
    this.#search ??= this.#searchAll().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  /** A connection failed: the next one searches for the primary again. */
  suspect(): void {
    this.#found = undefined;
  }

  /** Throws `NoPrimary` unless this new connection leads to the primary. */
  async check(client: Asked): Promise<void> {
    try {
      this.#checkTimeline(await identityOf(client));
    } catch (error) {
      this.suspect();
      throw error;
    }
  }

  /** Connects a client that is in no pool. */
  async connect(options: ClientConfig): Promise<Client> {
    const client = new Client({ ...options, connectionString: await this.find() });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await this.check(client);
    } catch (error) {
      this.suspect();
      // A server that hangs would not answer this either.
      client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }

  /** If two servers take writes, the one with the newer timeline was promoted last. */
  async #searchAll(): Promise<string> {
    const answers = await Promise.allSettled(this.#urls.map(ask));
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    const found = answers
      .flatMap((answer, index) =>
        answer.status === 'fulfilled' ? [{ url: this.#urls[index] as string, ...answer.value }] : [],
      )
      .sort((a, b) => (b.timeline ?? 0) - (a.timeline ?? 0))[0];
    if (found === undefined)
      throw new NoPrimary('no server of DATABASE_URL takes writes', { cause: failures[0] });
    this.#checkTimeline(found);
    this.#found = found.url;
    return found.url;
  }

  #checkTimeline({ system, timeline }: ServerIdentity): void {
    if (system === undefined || timeline === undefined) return;
    const newest = this.#timelines.get(system) ?? 0;
    if (timeline < newest)
      throw new NoPrimary(
        `a former primary takes writes (timeline ${timeline}, the newest is ${newest}): stop it`,
      );
    if (newest > 0 && timeline > newest) this.#changes += 1;
    this.#timelines.set(system, timeline);
  }
}

async function ask(url: string): Promise<ServerIdentity> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    application_name: 'simrack-primary-search',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await identityOf(client);
  } finally {
    client.end().catch(() => undefined);
  }
}

/** The log of a standby has no place of its own to insert at. */
const IDENTITY = `select pg_is_in_recovery() as standby, system_identifier::text as system,
  case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end as timeline
  from pg_control_system()`;

/** Throws `NoPrimary` for a standby. */
async function identityOf(client: Asked): Promise<ServerIdentity> {
  interface Row {
    standby: boolean;
    system?: string;
    timeline?: string | null;
  }
  const { rows } = await client.query<Row>(IDENTITY).catch((error: { code?: string }) => {
    if (error.code === undefined || !/^(0A|42|55)/.test(error.code)) throw error;
    // A hosted Postgres may not offer these functions.
    return client.query<Row>('select pg_is_in_recovery() as standby');
  });
  const row = rows[0];
  if (row?.standby !== false) throw new NoPrimary('the server is a standby');
  return { timeline: row.timeline ? Number.parseInt(row.timeline, 16) : undefined, system: row.system };
}
