// The messages that the carrier heard, sorted by message and part; strange segments are findings at once.
import { clock } from '../disturbances.ts';
import type { HeardRecord, OutboundRecord, RunRecord } from '../record.ts';
import { marksOf } from '../texts.ts';
import type { Findings } from './findings.ts';

export class AirIndex {
  readonly #segments = new Map<string, HeardRecord[][]>();

  constructor({ heard, outbound, numbers }: RunRecord, findings: Findings) {
    for (const segment of heard) {
      const [mark] = marksOf(segment.body);
      const message = mark && outbound.get(mark.key);
      const text = mark && message?.parts[mark.part - 1];
      const story = `${clock(segment.atMs)} ${segment.from} to ${segment.to}: ${JSON.stringify(segment.body)}`;
      if (mark === undefined || message === undefined || text === undefined) {
        findings.add('sent_foreign', mark?.key ?? '?', story);
        continue;
      }
      const isRight =
        text === segment.body && segment.to === message.to && segment.from === numbers[message.modem];
      if (!isRight)
        findings.add('sent_altered', mark.key, `${story}, not ${JSON.stringify(text)} to ${message.to}`);
      this.#add(mark.key, mark.part, segment);
    }
  }

  /** The times that one part, from 1, was on the air. */
  part(key: string, part: number): readonly HeardRecord[] {
    return this.#segments.get(key)?.[part - 1] ?? [];
  }

  /** How often each part was on the air. */
  counts({ key, parts }: Pick<OutboundRecord, 'key' | 'parts'>): number[] {
    return parts.map((_, index) => this.part(key, index + 1).length);
  }

  #add(key: string, part: number, segment: HeardRecord): void {
    const parts = this.#segments.get(key) ?? [];
    this.#segments.set(key, parts);
    parts[part - 1] = [...(parts[part - 1] ?? []), segment];
  }
}
