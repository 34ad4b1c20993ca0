// The messages that a number must have received: from outside and from SIMs of the rack, as the carrier knows them. Pure.
import type { DeliveredRecord, RunRecord } from '../record.ts';
import type { AirIndex } from './air-index.ts';

/** One copy of a message on its way to a SIM. */
export interface Copy {
  /** Seconds since the epoch that its service center time stamp may show, at least and at most. */
  fromSecond: number;
  untilSecond: number;
  /** By part; `undefined` where no modem took it. */
  taken: readonly (DeliveredRecord | undefined)[];
  /** Id of the first part at the carrier. */
  id: number;
}

/** Equal messages to one number. */
export interface Expected {
  key: string;
  from: string;
  text: string;
  parts: readonly string[];
  /** Those of which the carrier has all parts. */
  copies: readonly Copy[];
  /** How often the carrier had each part. */
  partCounts: readonly number[];
}

/** By key. */
export function expectedOf(run: RunRecord, air: AirIndex, modem: number): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  const taken = (ids: readonly number[]) => ids.map((id) => run.delivered.get(id));
  for (const { key, from, text, parts, posts, ...record } of run.inbound.values()) {
    if (record.modem !== modem) continue;
    const copies = posts.map(
      ({ id, fromMs, untilMs }): Copy => ({
        id,
        fromSecond: Math.floor(fromMs / 1000),
        untilSecond: Math.floor(untilMs / 1000),
        taken: taken(parts.map((_, index) => id + index)),
      }),
    );
    expected.set(key, { key, from, text, parts, copies, partCounts: parts.map(() => posts.length) });
  }
  for (const message of run.outbound.values()) {
    if (message.toModem !== modem) continue;
    const { key, text, parts } = message;
    const partCounts = air.counts(message);
    const heard = parts.map((_, index) => air.part(key, index + 1)[0]);
    // A message that the carrier passes on has the id after the one under which it was heard.
    const ids = heard.flatMap((segment) => (segment === undefined ? [] : [segment.id + 1]));
    const [first] = heard;
    const isWhole = ids.length === parts.length;
    const second = Math.floor((first?.atMs ?? 0) / 1000);
    const copy = { id: ids[0] ?? 0, fromSecond: second, untilSecond: second, taken: taken(ids) };
    const from = run.numbers[message.modem] ?? '';
    expected.set(key, { key, from, text, parts, copies: isWhole ? [copy] : [], partCounts });
  }
  return expected;
}
