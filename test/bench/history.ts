// The statements of the API, of operators and of housekeeping on the messages of a year, against the same on few messages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { applyFacts } from '#control-plane/nodes/facts.ts';
import { type Database, openDatabase } from '#control-plane/store/database/database.ts';
import { readFleet } from '#control-plane/store/fleet/fleet-nodes.ts';
import { listNumbers } from '#control-plane/store/fleet/numbers.ts';
import { listCalls } from '#control-plane/store/messages/call-list.ts';
import { findCallsSince } from '#control-plane/store/messages/calls.ts';
import { claimReceived, findFilledInboxes } from '#control-plane/store/messages/message-claims.ts';
import { purgeOldMessages } from '#control-plane/store/messages/message-deletion.ts';
import { listMessages } from '#control-plane/store/messages/messages.ts';
import { listPayments } from '#control-plane/store/money/payment-list.ts';
import { listSlotEvents } from '#control-plane/store/operations/events.ts';
import { takeInventory } from '#control-plane/store/operations/inventory.ts';
import { listNumberEvents } from '#control-plane/store/operations/number-events.ts';
import { takeSample } from '#control-plane/store/operations/samples.ts';
import { commandOf } from '../dev-stack/program-command.ts';
import { AS_DEPLOYED, startPostgres } from '../fixtures/database/postgres.ts';
import {
  ACTIVE,
  DAY_MS,
  fillYear,
  iccidOf,
  NUMBERS,
  numberOf,
  subscriptionId,
  vacuum,
} from './history-fill.ts';
import { type Measurement, median, percentile } from './report.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/** Rows of a year of a thousand numbers; `--rows 10000000` is a year of ten thousand, and takes 12 GB of disk. */
const ROWS = 1_000_000;
const FEW_ROWS = 10_000;
const ROUNDS = 5;
const RATIO_MAX = 1.5;
const HOUR_MS = 3_600_000;

/** More than one page, so that the API knows whether there is another one. */
const PAGE = 51;

/** Settings of a server for tables of this size; Postgres' default of 128 MB is far too small. */
const SERVER = ['shared_buffers=1GB', 'max_wal_size=4GB'];

interface Side {
  db: Database;
  url: string;
  rows: number;
  now: Date;
  facts: number;
}

type Work = (side: Side, index: number) => Promise<unknown>;

interface Operation {
  name: string;
  /** In one round on each side. */
  times: number;
  work: Work;
  /** Untimed, before each. */
  before?: Work;
}

export async function benchHistory({
  rows = ROWS,
}: {
  rows?: number | undefined;
} = {}): Promise<Measurement[]> {
  const postgres = await startPostgres([...AS_DEPLOYED, ...SERVER]);
  const sides: Side[] = [];
  const closes: Array<() => Promise<void>> = [];
  try {
    const now = new Date();
    for (const count of [rows, FEW_ROWS]) {
      const url = await postgres.createDatabase();
      const startedAt = performance.now();
      await fillYear(url, count, now);
      note(`${count} messages filled in ${seconds(performance.now() - startedAt)}`);
      const { db, close } = await openDatabase({ url, connectionsMax: 4 });
      closes.push(close);
      sides.push({ db, url, rows: count, now, facts: 0 });
    }
    const [many, few] = sides as [Side, Side];
    const fresh = await compare(many, few, PAGES, { rounds: 1, suffix: ', no statistics' });
    await Promise.all(sides.map(({ url }) => vacuum(url)));
    const all = await compare(many, few, [...PAGES, ...OPERATORS], { rounds: ROUNDS, suffix: '' });
    const purge = await benchPurge(many);
    const backup = await benchBackup(many);
    return [...all, ...fresh, ...purge, ...backup];
  } finally {
    for (const close of closes) await close();
    await postgres.stop();
  }
}

const note = (text: string): void => void process.stderr.write(`  ${text}\n`);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** A subscription with messages: any but the busiest. */
const some = (): number => 2 + Math.floor(Math.random() * (ACTIVE - 1));
const BUSIEST = 1;

/** A moment of the year; 1 is now. */
const moment = ({ now }: Side, share: number): Date => new Date(now.getTime() - (1 - share) * 365 * DAY_MS);

/** A page is full on each side from there to the beginning. */
const OLDEST = 0.25;

const page = (side: Side, index: number, share?: number, direction: 'sent' | 'both' = 'both') =>
  listMessages(side.db, {
    subscriptionId: subscriptionId(index),
    direction,
    since: undefined,
    until: undefined,
    after: share === undefined ? undefined : { createdAt: moment(side, share), id: 2 ** 40 },
    limit: PAGE,
  });

async function receive(side: Side, index: number): Promise<void> {
  side.facts += 1;
  const at = new Date().toISOString();
  const fact = {
    kind: 'sms_received',
    iccid: iccidOf(index),
    from: '+13105550188',
    body: 'Your code is 123456.',
    partial: false,
    received_at: at,
    sent_at: at,
  } as const;
  const key = `node-1/bench/${side.facts}`;
  const { unheld, undated } = await side.db
    .transaction()
    .execute((trx) => applyFacts(trx, [{ key, fact }], new Date()));
  if (unheld + undated > 0) throw new Error('the text was not stored');
}

async function claim({ db }: Side, index: number, expected: number): Promise<void> {
  const claimed = await claimReceived(db, {
    subscriptionId: subscriptionId(index),
    limit: 20,
    now: new Date(),
  });
  if (claimed.length !== expected) throw new Error(`claimed ${claimed.length}`);
}

async function claimAll({ db }: Side, index: number): Promise<void> {
  const all = { subscriptionId: subscriptionId(index), limit: 10_000, now: new Date() };
  await claimReceived(db, all);
}

async function receiveOne(side: Side, index: number): Promise<void> {
  await claimAll(side, index);
  await receive(side, index);
}

const PAGES: readonly Operation[] = [
  { name: 'a received text is stored', times: 500, work: receive },
  { name: 'claim', times: 500, before: receiveOne, work: (side, index) => claim(side, index, 1) },
  { name: 'empty claim', times: 500, before: claimAll, work: (side, index) => claim(side, index, 0) },
  { name: 'history, first page', times: 500, work: (side, index) => page(side, index) },
  { name: 'history, a page in the middle', times: 500, work: (side, index) => page(side, index, 0.5) },
  { name: 'history, last page', times: 500, work: (side, index) => page(side, index, OLDEST) },
  { name: 'history of the busiest, middle', times: 200, work: (side) => page(side, BUSIEST, Math.random()) },
  { name: 'history, one direction', times: 200, work: (side, index) => page(side, index, 0.7, 'sent') },
  {
    name: 'calls, first page',
    times: 500,
    work: ({ db }, index) =>
      listCalls(db, {
        subscriptionId: subscriptionId(index),
        direction: 'both',
        since: undefined,
        until: undefined,
        after: undefined,
        limit: PAGE,
      }),
  },
];

const OPERATORS: readonly Operation[] = [
  {
    name: 'console: events of a number',
    times: 200,
    work: ({ db }, index) => listNumberEvents(db, numberOf(index), { limit: 50, now: new Date() }),
  },
  {
    name: 'console: events of a slot',
    times: 200,
    work: ({ db }, index) => listSlotEvents(db, { node: `node-${index % 100}`, slot: 'm3', limit: 20 }),
  },
  { name: 'console: the fleet', times: 5, work: ({ db, now }) => readFleet(db, now) },
  {
    name: 'console: numbers, a page',
    times: 20,
    work: ({ db, now }) =>
      listNumbers(db, { after: numberOf(Math.floor(Math.random() * NUMBERS)), limit: 100 }, now),
  },
  {
    name: 'console: payments, a page',
    times: 50,
    work: ({ db, now }) => listPayments(db, { limit: 100 }, now),
  },
  {
    name: 'alerts: stuck payments',
    times: 20,
    work: ({ db, now }) => listPayments(db, { isStuck: true, limit: 500 }, now),
  },
  { name: 'metrics: inventory', times: 10, work: ({ db, now }) => takeInventory(db, now) },
  {
    name: 'samples: a minute',
    times: 20,
    before: ({ db }) => db.deleteFrom('fleet_samples').execute(),
    work: ({ db }) => takeSample(db, [], new Date()),
  },
  {
    name: 'presence: 10,000 watched',
    times: 20,
    work: ({ db }) => findCallsSince(db, EVERY_SUBSCRIPTION, new Date(Date.now() - 10_000)),
  },
  { name: 'inboxes: 10,000 waiting', times: 20, work: ({ db }) => findFilledInboxes(db, WAITING) },
];

/** A client that waits has claimed all. */
const WAITING = Array.from({ length: NUMBERS }, (_, index) => `waits_${index}`);

const EVERY_SUBSCRIPTION = Array.from({ length: NUMBERS }, (_, index) => subscriptionId(index + 1));

/** Both sides in turn, so that both have the same noise. */
async function compare(
  many: Side,
  few: Side,
  operations: readonly Operation[],
  { rounds, suffix }: { rounds: number; suffix: string },
): Promise<Measurement[]> {
  const measured: Measurement[] = [];
  for (const operation of operations) {
    const taken: Array<{ many: number[]; few: number[] }> = [];
    for (let round = -1; round < rounds; round += 1) {
      const times = { many: [] as number[], few: [] as number[] };
      for (let turn = 0; turn < operation.times; turn += 1) {
        // Garbage is collected in the turn of either.
        if (turn % 2 === 0) times.many.push(await timed(operation, many));
        times.few.push(await timed(operation, few));
        if (turn % 2 === 1) times.many.push(await timed(operation, many));
      }
      if (round >= 0) taken.push(times);
    }
    for (const percent of [50, 99]) {
      const of = (side: 'many' | 'few'): number =>
        median(taken.map((times) => percentile(times[side], percent)));
      const measurement: Measurement = {
        name: `${operation.name}${suffix}, p${percent}`,
        rounds: taken.map((times) => percentile(times.many, percent) / percentile(times.few, percent)),
        unit: '×',
        remark: `${of('many').toFixed(2)} ms of ${many.rows} against ${of('few').toFixed(2)} ms of ${few.rows}`,
        ...(percent === 99 && suffix === '' ? { target: { atMost: RATIO_MAX } } : {}),
      };
      note(`${measurement.name}: ${median(measurement.rounds).toFixed(2)} (${measurement.remark})`);
      measured.push(measurement);
    }
  }
  return measured;
}

async function timed({ work, before }: Operation, side: Side): Promise<number> {
  const index = some();
  await before?.(side, index);
  const startedAt = performance.now();
  await work(side, index);
  return performance.now() - startedAt;
}

/** The oldest month is deleted while clients claim: a batch each second, which is sixty times the service's pace, then without a pause. */
async function benchPurge(side: Side): Promise<Measurement[]> {
  const quietUntil = performance.now() + PACED_MS;
  const quiet = await claimUntil(side, () => performance.now() > quietUntil);
  const keepMs = 335 * DAY_MS;
  // A time must have been read an hour ago to count.
  await purgeOldMessages(side.db, { keepMs, now: new Date(side.now.getTime() - 2 * HOUR_MS) });
  const purge = async (pauseMs: number, forMs: number) => {
    const batches: number[] = [];
    const startedAt = performance.now();
    let isOver = false;
    const run = async (): Promise<void> => {
      while (performance.now() - startedAt < forMs) {
        const batchAt = performance.now();
        const count = await purgeOldMessages(side.db, { keepMs, now: side.now });
        if (count === 0) break;
        batches.push(performance.now() - batchAt);
        await pause(pauseMs);
      }
      isOver = true;
    };
    const [claims] = await Promise.all([claimUntil(side, () => isOver), run()]);
    return { batches, claims, took: performance.now() - startedAt };
  };
  const paced = await purge(1_000, PACED_MS);
  const rushed = await purge(0, Number.POSITIVE_INFINITY);
  const ms = (times: readonly number[], percent: number): string => percentile(times, percent).toFixed(2);
  const ratio = (name: string, claims: readonly number[]): Measurement[] =>
    [50, 99].map((percent) => ({
      name: `claims during a purge, ${name} : quiet, p${percent}`,
      rounds: [percentile(claims, percent) / percentile(quiet, percent)],
      unit: '×',
      remark: `${ms(claims, percent)} ms against ${ms(quiet, percent)} ms`,
      ...(name === RUSHED ? {} : { target: { atMost: RATIO_MAX } }),
    }));
  const { batches } = rushed;
  return [
    {
      name: 'purge of a month, 10,000 messages',
      rounds: batches,
      unit: 'ms',
      remark: `${batches.length} batches in ${seconds(rushed.took)}; the first ten ${ms(batches.slice(0, 10), 50)} ms, the last ten ${ms(batches.slice(-10), 50)} ms`,
    },
    ...ratio('a batch each second', paced.claims),
    ...ratio(RUSHED, rushed.claims),
  ];
}

const PACED_MS = 20_000;
const RUSHED = 'without a pause';

async function claimUntil(side: Side, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const index = some();
    await receiveOne(side, index);
    const startedAt = performance.now();
    await claim(side, index, 1);
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function benchBackup({ url, rows }: Side): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'history.backup');
    const startedAt = performance.now();
    const child = spawn(process.execPath, [...commandOf('control-plane/bin.mjs'), 'backup', file], {
      env: { ...process.env, DATABASE_URL: url },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    let megabytes = 0;
    const watch = setInterval(() => (megabytes = Math.max(megabytes, peakMegabytes(child.pid ?? 0))), 200);
    const [code] = await once(child, 'exit');
    clearInterval(watch);
    if (code !== 0) throw new Error(`the backup failed: exit code ${code}`);
    const took = performance.now() - startedAt;
    const bytes = statSync(file).size;
    return [
      {
        name: `backup of ${rows} messages`,
        rounds: [took / 1000],
        unit: 's',
        remark: `${Math.round(bytes / 2 ** 20)} MB, ${Math.round(megabytes)} MB of memory at most`,
      },
    ];
  });
}

/** Linux; 0 once the process has ended. */
function peakMegabytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
