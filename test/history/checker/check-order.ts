// The order of one sender's messages to one number, as far as it is promised. Pure.
import { clock, type Disturbances } from '../disturbances.ts';
import type { DeliveredRecord } from '../record.ts';
import type { HistoryEntry } from './check-received.ts';
import type { Copy, Expected } from './expected.ts';
import type { Findings } from './findings.ts';

/** Predecessors that each message is compared with. */
const LOOK_BACK = 64;

interface Placed {
  key: string;
  copy: Copy;
  taken: DeliveredRecord;
  entry: HistoryEntry;
}

/**
 * Promised: of two messages of one part each, by one sender, which the modem put into the same store, the earlier comes first in the
 * history
 * - when nothing was broken around them;
 * - also through kills and lost ports, when their service center time stamps differ: lists are sorted by them.
 * Not promised while a fault may lose an announcement or the reading after it: an unannounced message waits for the next sweep.
 */
export function checkOrder(parts: {
  modem: number;
  expected: ReadonlyMap<string, Expected>;
  entries: ReadonlyMap<string, readonly HistoryEntry[]>;
  disturbances: Disturbances;
  findings: Findings;
}): { compared: number; excused: number } {
  const { expected, entries } = parts;
  const bySender = new Map<string, Placed[]>();
  for (const { key, from, copies, parts: texts } of expected.values()) {
    const reported = entries.get(key) ?? [];
    if (texts.length !== 1 || reported.length !== copies.length) continue;
    for (const [nth, copy] of [...copies].sort(byTaken).entries()) {
      const [taken] = copy.taken;
      const entry = reported[nth];
      if (taken === undefined || taken.memory === null || entry === undefined) continue;
      const lane = `${from}/${taken.memory}`;
      bySender.set(lane, [...(bySender.get(lane) ?? []), { key, copy, taken, entry }]);
    }
  }
  let compared = 0;
  let excused = 0;
  for (const placed of bySender.values()) {
    placed.sort((a, b) => a.taken.order - b.taken.order);
    compared += Math.max(0, placed.length - 1);
    for (const [at, later] of placed.entries()) {
      const before = placed.slice(Math.max(0, at - LOOK_BACK), at);
      const overtaken = before.filter(({ entry }) => entry.position > later.entry.position);
      const broken = overtaken.find((earlier) => !isExcused(earlier, later, parts));
      if (broken !== undefined) parts.findings.add('order', later.key, story(broken, later, parts));
      else if (overtaken.length > 0) excused += 1;
    }
  }
  return { compared, excused };
}

const byTaken = (a: Copy, b: Copy): number => (a.taken[0]?.order ?? 0) - (b.taken[0]?.order ?? 0);

function isExcused(
  earlier: Placed,
  later: Placed,
  { modem, disturbances }: { modem: number; disturbances: Disturbances },
): boolean {
  const around = disturbances.around(modem, earlier.taken.atMs, reportedAtMs(earlier));
  const haveDifferentStamps = earlier.copy.untilSecond < later.copy.fromSecond;
  return haveDifferentStamps ? around.some(({ mayReorder }) => mayReorder) : around.length > 0;
}

function story(
  earlier: Placed,
  later: Placed,
  { modem, disturbances }: { modem: number; disturbances: Disturbances },
): string {
  const [one, two] = [earlier, later].map(
    ({ key, taken, entry }) =>
      `${key} in ${taken.memory} ${taken.index} at ${clock(taken.atMs)}, row ${entry.row.id} at ${entry.row.createdAt}`,
  );
  return `${two} overtook ${one}; ${disturbances.story(modem, earlier.taken.atMs, reportedAtMs(earlier))}`;
}

/** Until then the message was on its way: of two messages, the overtaken one is reported last. */
const reportedAtMs = ({ entry }: Placed): number => Date.parse(entry.row.createdAt);
