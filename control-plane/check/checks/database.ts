// Checks of the database and of NATS, which connects instances on one database.
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { examineNats } from '../../bus/nats-examination.ts';
import { pinKeyFileOf } from '../../pins/pin-vault.ts';
import { receiptKeyFileOf } from '../../receipts/receipt-key.ts';
import { embeddedFolder, isMade } from '../../store/database/database.ts';
import { shownDatabase } from '../../store/database/database-url.ts';
import { examineDatabase, type SeenDatabase } from '../../store/database/examination.ts';
import {
  CALL_TIMEOUT_MS,
  type Check,
  type CheckedSettings,
  firstLineOf,
  once,
  STATEMENT_TIMEOUT_MS,
} from './check.ts';
import { pinKey, receiptKey } from './keys.ts';

/** The oldest version that the tests ran with. */
const TESTED_VERSION = 17;

export function storeChecks({ config }: CheckedSettings): Check[] {
  const { databaseUrl: url, dataDir } = config;
  const asked = once(async () =>
    url === undefined ? undefined : examineDatabase(url, STATEMENT_TIMEOUT_MS),
  );
  const database = (check: string, judge: (seen: SeenDatabase) => Outcome): Check => ({
    check,
    chain: null,
    async run() {
      const seen = await asked().catch(() => undefined);
      return seen === undefined ? skipped('Postgres was not examined') : judge(seen);
    },
  });
  return [
    { check: 'data_dir', chain: null, run: () => dataFolder(dataDir) },
    {
      check: 'database',
      chain: null,
      run: async () => {
        if (url === undefined) return embedded(dataDir);
        return asked().then(
          (seen) => (seen === undefined ? skipped('Postgres was not examined') : server(url, seen)),
          (error: unknown) => failure(url, error),
        );
      },
    },
    database('database_rights', rights),
    database('schema', schema),
    database('pooler', pooler),
    { check: 'nats', chain: null, run: () => nats(config, asked) },
    { check: 'receipt_key', chain: null, run: () => receiptKey(receiptKeyFileOf(config), asked) },
    database('pin_key', (seen) => pinKey(pinKeyFileOf(config), seen)),
  ];
}

/** May the service write its data folder? */
async function dataFolder(dataDir: string): Promise<Outcome> {
  const folder = resolve(dataDir);
  for (const path of [folder, dirname(folder)]) {
    try {
      await access(path, constants.W_OK | constants.X_OK);
      return path === folder ? ok(folder) : ok(`${folder} does not exist; the service can create it`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path !== folder)
        return problem(
          `${folder} cannot be written by this user: ${(error as NodeJS.ErrnoException).code}`,
          'Give the folder to the user of the service, or set DATA_DIR. Run this command as that user.',
        );
    }
  }
  return skipped('not examined');
}

function embedded(dataDir: string): Outcome {
  const folder = embeddedFolder(resolve(dataDir));
  const advice = 'For more than a trial, set DATABASE_URL to a Postgres.';
  return isMade(folder)
    ? warning(`embedded database in ${folder}, not opened: opening it would write to it`, advice)
    : warning(`embedded database, which the first start creates in ${folder}`, advice);
}

function server(url: string, { version, versionNumber, connectionsMax }: SeenDatabase): Outcome {
  const seen = `Postgres ${version} at ${shownDatabase(url)}, at most ${connectionsMax} connections`;
  if (versionNumber >= TESTED_VERSION * 10_000) return ok(seen);
  return warning(
    seen,
    `The tests of this program ran with Postgres ${TESTED_VERSION} and later. Upgrade Postgres.`,
  );
}

const FAILURES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name of the host was not found. Check DATABASE_URL and the DNS.',
  EAI_AGAIN: 'The name of the host was not found. Check DATABASE_URL and the DNS.',
  ECONNREFUSED: 'Nothing listens there. Start Postgres, or correct host and port in DATABASE_URL.',
  '28P01': 'Correct the user and the password in DATABASE_URL.',
  '28000': 'The server does not admit this user from here. Check pg_hba.conf, and the user in DATABASE_URL.',
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  '53300': 'The server has no connection left. Raise max_connections, or put pgbouncer in between.',
};

/** SQLSTATE, or a code of the system. */
function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function failure(url: string, error: unknown): Outcome {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = codeOf(cause) ?? codeOf(error) ?? '';
  const seen = [`${shownDatabase(url)} cannot be used`, firstLineOf(error), cause && firstLineOf(cause)];
  return problem(
    seen.filter((part) => part !== undefined && part !== '').join(': '),
    FAILURES[code] ?? 'Check DATABASE_URL, and that Postgres runs and this host may connect to it.',
  );
}

/** Has the user the rights for service and migrations? */
function rights({ user, missingRights, schema: applied }: SeenDatabase): Outcome {
  if (missingRights.length === 0)
    return ok(`${user} can ${applied === undefined ? 'create tables' : 'use and alter all tables'}`);
  const shown = missingRights.slice(0, 5).join(', ');
  const rest = missingRights.length - 5;
  return problem(
    `${user} lacks ${shown}${rest > 0 ? ` and ${rest} more` : ''}`,
    `Make the user the owner of the database and of its tables: alter database … owner to ${user}`,
  );
}

function schema({ schema: applied, ownSchema, schemaProblem }: SeenDatabase): Outcome {
  if (schemaProblem !== undefined)
    return problem(schemaProblem, 'Start the version of the program that fits this database.');
  if (applied === undefined) return ok(`none yet: the first start creates ${ownSchema}`);
  if (applied === ownSchema) return ok(applied);
  return applied < ownSchema
    ? ok(`${applied}: the next start changes it to ${ownSchema}`)
    : ok(`${applied}, newer than this program, which it serves`);
}

function pooler({ isPooled, transactionProblem, transactionTimeoutMs }: SeenDatabase): Outcome {
  if (transactionProblem !== undefined)
    return problem(
      `transactions do not work: ${transactionProblem}`,
      'Set pool_mode=transaction, or session: the mode statement allows no transactions.',
    );
  if (transactionTimeoutMs > 0)
    return problem(
      `transaction_timeout is ${transactionTimeoutMs} ms: the server ends the lock of each instance`,
      'Set transaction_timeout to 0 for the user of the service: alter role … set transaction_timeout = 0',
    );
  return isPooled
    ? ok('there is a pooler, and transactions work through it; it needs one connection for each instance')
    : ok('no pooler');
}

async function nats(
  { natsUrl: servers, natsCredentialsFile: credentialsFile, natsCaFile: caFile }: CheckedSettings['config'],
  database: () => Promise<SeenDatabase | undefined>,
): Promise<Outcome> {
  if (servers === undefined) return skipped('NATS_URL is not set: one instance');
  const hosts = servers.map((url) => new URL(url).host).join(', ');
  // The subjects of the service, which the NATS user may be limited to.
  const known = await database().catch(() => undefined);
  const prefix = `simrack-${known?.databaseId ?? 'check'}`;
  try {
    const options = { servers, credentialsFile, caFile };
    const { version, roundTripMs } = await examineNats(options, { prefix, timeoutMs: CALL_TIMEOUT_MS });
    return ok(`NATS ${version} at ${hosts}; a request was answered in ${Math.ceil(roundTripMs)} ms`);
  } catch (error) {
    return problem(
      `${hosts}: ${firstLineOf(error)}`,
      'Check NATS_URL, the credentials and the certificates, and that the NATS user may publish and subscribe to simrack-*.>',
    );
  }
}
