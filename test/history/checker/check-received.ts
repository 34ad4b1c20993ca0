// Received messages of one number: none lost, none doubled, none altered, joined whole. Pure.
import { clock, type Disturbances } from '../disturbances.ts';
import type { HistoryRow } from '../record.ts';
import { marksOf } from '../texts.ts';
import type { Copy, Expected } from './expected.ts';
import type { Findings } from './findings.ts';

/** A whole message in the history; positions count from the oldest. */
export interface HistoryEntry {
  row: HistoryRow;
  position: number;
}

interface ReceivedParts {
  modem: number;
  expected: ReadonlyMap<string, Expected>;
  /** Received ones, oldest first. */
  rows: readonly HistoryRow[];
  disturbances: Disturbances;
  findings: Findings;
}

/** Returns the whole messages by key, oldest first. */
export function checkReceived(parts: ReceivedParts): Map<string, HistoryEntry[]> {
  const { expected, rows, findings } = parts;
  const entries = new Map<string, HistoryEntry[]>();
  const reportedParts = new Map<string, number[]>();
  for (const [position, row] of rows.entries()) {
    const marks = marksOf(row.body);
    const key = marks[0]?.key ?? '';
    const message = expected.get(key);
    if (message === undefined) {
      findings.add('foreign', key, rowStory(row));
      continue;
    }
    if (row.from !== message.from) findings.add('altered', key, `${rowStory(row)}, sent by ${message.from}`);
    if (row.body === message.text) {
      entries.set(key, [...(entries.get(key) ?? []), { row, position }]);
      continue;
    }
    const numbers = marks.map(({ part }) => part);
    const isPartial = row.body === numbers.map((part) => message.parts[part - 1]).join('');
    if (!isPartial) findings.add('altered', key, `${rowStory(row)}, not ${JSON.stringify(message.text)}`);
    else reportedParts.set(key, [...(reportedParts.get(key) ?? []), ...numbers]);
  }
  for (const message of expected.values()) {
    const whole = entries.get(message.key) ?? [];
    checkCount(message, whole, parts);
    checkParts(message, whole.length, reportedParts.get(message.key) ?? [], findings);
  }
  return entries;
}

function checkCount(message: Expected, whole: readonly HistoryEntry[], parts: ReceivedParts): void {
  const { key, copies } = message;
  const { modem, disturbances, findings } = parts;
  const most = Math.max(copies.length, Math.min(...message.partCounts));
  if (whole.length > most) {
    const reported = whole.map(({ row }) => `row ${row.id} at ${row.createdAt}`).join(', ');
    findings.add('doubled', key, `${reported}; sent ${most} times; ${copies.map(copyStory).join('; ')}`);
  }
  if (whole.length >= copies.length - mergeable(copies)) return;
  const missing = copies.find(({ taken }) => taken.includes(undefined));
  if (missing !== undefined) {
    findings.add('not_delivered', key, `the carrier still has it: ${copyStory(missing)}`);
    return;
  }
  const [copy] = copies;
  const at = copy?.taken[0]?.atMs ?? 0;
  const around = disturbances.story(modem, at - 1_000, at + 10_000);
  const found = `${whole.length} of ${copies.length} in the history of modem ${modem}`;
  findings.add('lost', key, `${found}; ${copies.map(copyStory).join('; ')}; ${around}`);
}

/**
 * Copies that the daemon may take for one, as docs/internals/messages.md says: equal in every octet and one after the other
 * in the same place; or parts with equal references, as of any sender that counts to 255.
 */
function mergeable(copies: readonly Copy[]): number {
  return copies.slice(1).filter((copy, index) => {
    const before = copies[index];
    if (before === undefined) return false;
    if (copy.taken.length > 1) return (copy.id - before.id) % 256 === 0;
    const [here] = copy.taken;
    const [there] = before.taken;
    const isSamePlace = here?.memory === there?.memory && here?.index === there?.index;
    return isSamePlace && copy.fromSecond <= before.untilSecond;
  }).length;
}

function checkParts(message: Expected, whole: number, reported: readonly number[], findings: Findings): void {
  const { key, copies, partCounts } = message;
  if (reported.length === 0) return;
  if (whole < copies.length || copies.length >= Math.max(...partCounts)) {
    findings.add(
      'partial',
      key,
      `parts ${reported.join(', ')} of ${message.parts.length} came by themselves`,
    );
    return;
  }
  const tooOften = partCounts.some((count, index) => {
    return whole + reported.filter((part) => part === index + 1).length > count;
  });
  if (tooOften) findings.add('part_doubled', key, `parts ${reported.join(', ')} and ${whole} times whole`);
}

const rowStory = ({ id, from, body, createdAt }: HistoryRow): string =>
  `row ${id} at ${createdAt} from ${from}: ${JSON.stringify(body)}`;

const copyStory = ({ id, taken }: Copy): string =>
  `carrier id ${id}: ${taken
    .map((each) =>
      each === undefined
        ? 'not taken'
        : `${each.memory ?? 'terminal'} ${each.index ?? ''} at ${clock(each.atMs)}`,
    )
    .join(', ')}`;
