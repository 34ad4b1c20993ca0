// A small history made by hand, in which every rule holds: the tests of the checker spoil one thing each.
import { digestOf } from './checker/check-claims.ts';
import { HistoryChecker } from './checker/check-history.ts';
import type { Rule } from './checker/findings.ts';
import type {
  ClaimRecord,
  DeliveredRecord,
  DisturbanceRecord,
  HeardRecord,
  HistoryRow,
  InboundRecord,
  OutboundRecord,
} from './record.ts';

/** Everything happens in the minutes after it; the clock of the example stands at 10:00:00. */
const START_MS = Date.parse('2026-03-01T10:00:00.000Z');
const at = (seconds: number): number => START_MS + seconds * 1000;

const NUMBERS = ['+12065550100', '+12065550101'] as const;
const SENDER = '+14155550123';
const OUTSIDE = '+13105550188';

/** Mutable, so that a test can spoil it. */
export interface Example {
  numbers: readonly string[];
  inbound: Map<string, InboundRecord>;
  outbound: Map<string, OutboundRecord>;
  heard: HeardRecord[];
  delivered: Map<number, DeliveredRecord>;
  claims: ClaimRecord[][];
  claimedUntilMs: number;
  disturbances: DisturbanceRecord[];
  eventsLost: boolean;
  rogueCommands: string[];
  calls: number;
  /** Rows of all numbers, oldest first. */
  rows: HistoryRow[];
}

/**
 * Modem 0 receives `i0.2#1` and `i0.2#2`, each in one part, and `i0.3#3` in two; sends `o0#1` to outside and has a report of it, `o0#2`
 * whose send failed, and `o0#3`, whose outcome is unknown after a kill.
 */
export function exampleRun(): Example {
  const example: Example = {
    numbers: NUMBERS,
    inbound: new Map(),
    outbound: new Map(),
    heard: [],
    delivered: new Map(),
    claims: [[], []],
    claimedUntilMs: Number.POSITIVE_INFINITY,
    disturbances: [],
    eventsLost: false,
    rogueCommands: [],
    calls: 0,
    rows: [],
  };
  receive(example, { key: 'i0.2#1', parts: ['i0.2#1:1/1 one'], id: 1, second: 1 });
  receive(example, { key: 'i0.2#2', parts: ['i0.2#2:1/1 two'], id: 2, second: 3 });
  receive(example, { key: 'i0.3#3', parts: ['i0.3#3:1/2 begins', 'i0.3#3:2/2 ends'], id: 3, second: 5 });
  send(example, { key: 'o0#1', id: 10, second: 7, status: 'delivered', messageId: 'msg_1.7' });
  send(example, { key: 'o0#2', second: 9, status: 'failed', answer: { kind: 'refused', reason: 'cms_38' } });
  disturb(example, { what: 'kill', target: 'node-daemon', second: 60, untilSecond: 62 });
  send(example, { key: 'o0#3', second: 61, status: 'unknown', answer: { kind: 'open' } });
  return example;
}

/** The rules that a history breaks. */
export function brokenRules(example: Example): Rule[] {
  const checker = new HistoryChecker(example);
  for (const [modem, number] of NUMBERS.entries()) {
    const own = example.rows.filter(
      ({ direction, from, to }) => number === (direction === 'sent' ? from : to),
    );
    checker.check(modem, own.reverse());
  }
  return [...checker.findings.counts.keys()].sort();
}

/** A text arrives, part by part, is reported whole and claimed. */
export function receive(
  example: Example,
  { key, parts, id, second }: { key: string; parts: string[]; id: number; second: number },
): void {
  const text = parts.join('');
  const post = { id, fromMs: at(second), untilMs: at(second) + 5 };
  const known = example.inbound.get(key) ?? { key, modem: 0, from: SENDER, text, parts, posts: [] };
  known.posts.push(post);
  example.inbound.set(key, known);
  for (const [index] of parts.entries()) {
    const order = example.delivered.size + 1;
    example.delivered.set(id + index, {
      id: id + index,
      order,
      atMs: at(second) + 10,
      modem: 0,
      kind: 'deliver',
      memory: 'ME',
      index: order,
    });
  }
  const row = report(example, { from: SENDER, body: text, second });
  claim(example, [row], second);
}

/** A row of a received message. */
export function report(
  example: Example,
  { from = SENDER, body, second }: { from?: string; body: string; second: number },
): HistoryRow {
  const row: HistoryRow = {
    id: example.rows.length + 1,
    direction: 'received',
    from,
    to: NUMBERS[0],
    body,
    messageId: null,
    status: null,
    createdAt: new Date(at(second) + 20).toISOString(),
    deliveredAt: new Date(at(second) + 30).toISOString(),
  };
  example.rows.push(row);
  return row;
}

export function claim(example: Example, rows: readonly HistoryRow[], second: number): void {
  const messages = rows.map(({ id, from, body }) => ({ id, digest: digestOf({ from, body }) }));
  example.claims[0]?.push({ fromMs: at(second) + 25, untilMs: at(second) + 35, messages });
}

/** A send to outside, in one part or several. With an id the carrier hears the first one, and its report comes. */
export function send(
  example: Example,
  what: {
    key: string;
    id?: number;
    second: number;
    status: string;
    messageId?: string;
    answer?: OutboundRecord['answer'];
    parts?: readonly string[];
  },
): void {
  const { key, id, second, status, messageId = null, answer, parts = [`${key}:1/1 hello`] } = what;
  const text = parts.join('');
  example.outbound.set(key, {
    key,
    modem: 0,
    to: OUTSIDE,
    toModem: undefined,
    text,
    parts,
    fromMs: at(second),
    untilMs: at(second) + 100,
    answer: answer ?? { kind: 'accepted', messageId: messageId ?? '' },
  });
  example.rows.push({
    id: example.rows.length + 1,
    direction: 'sent',
    from: NUMBERS[0],
    to: OUTSIDE,
    body: text,
    messageId,
    status,
    createdAt: new Date(at(second)).toISOString(),
    deliveredAt: null,
  });
  if (id === undefined) return;
  hear(example, key, id, second);
  example.delivered.set(id + 1, {
    id: id + 1,
    order: example.delivered.size + 1,
    atMs: at(second) + 80,
    modem: 0,
    kind: 'report',
    memory: null,
    index: null,
  });
}

/** A send in two parts ends as expired, by a report on the first; the second is never heard. */
export function expire(
  example: Example,
  { isKilled, isHeard }: { isKilled: boolean; isHeard: boolean },
): void {
  const span = { second: 300, untilSecond: 310 };
  disturb(example, { what: 'status_report', target: 0, ...span });
  if (isKilled) disturb(example, { what: 'kill', target: 'node-daemon', ...span });
  send(example, {
    key: 'o0#5',
    ...(isHeard ? { id: 50 } : {}),
    second: 305,
    status: 'expired',
    answer: { kind: 'open' },
    parts: ['o0#5:1/2 a', 'o0#5:2/2 b'],
  });
}

/** The carrier hears a send of the example once more. */
export function hear(example: Example, key: string, id: number, second: number): void {
  const body = example.outbound.get(key)?.parts[0] ?? key;
  example.heard.push({ id, atMs: at(second) + 50, from: NUMBERS[0], to: OUTSIDE, body });
}

export function disturb(
  example: Example,
  what: {
    what: string;
    target: DisturbanceRecord['target'];
    second: number;
    untilSecond: number;
    mayReorder?: boolean;
  },
): void {
  example.disturbances.push({
    what: what.what,
    target: what.target,
    detail: '',
    mayReorder: what.mayReorder ?? false,
    fromMs: at(what.second),
    untilMs: at(what.untilSecond),
  });
}

/** Changes a received row, and what was claimed of it. */
export function alter(example: Example, key: string, change: (row: HistoryRow) => void): void {
  const row = rowOf(example, key);
  change(row);
  for (const { messages = [] } of example.claims[0] ?? [])
    for (const message of messages) if (message.id === row.id) message.digest = digestOf(row);
}

/** The row whose text begins with a key. */
export function rowOf(example: Example, key: string): HistoryRow {
  const row = example.rows.find(({ body }) => body.startsWith(`${key}:`));
  if (row === undefined) throw new Error(`no row of ${key}`);
  return row;
}
