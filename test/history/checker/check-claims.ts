// Checks the claims of one number against its history. Pure.
import { clock } from '../disturbances.ts';
import { hashOf } from '../random.ts';
import type { ClaimRecord, HistoryRow } from '../record.ts';
import type { Findings } from './findings.ts';

/** Between the clock of the claim and that of the request. */
const CLOCK_SLACK_MS = 2_000;

/** The fingerprint of a message, the same for a claim and a row. */
export const digestOf = (message: { from: string; body: string }): number =>
  hashOf(`${message.from}\n${message.body}`);

/**
 * `rows` are received ones, oldest first. Claims are at most once: an answer that was cut loses them. Messages after the last claim, such
 * as one that waited for missing parts, are not a fault.
 */
export function checkClaims(parts: {
  rows: readonly HistoryRow[];
  claims: readonly ClaimRecord[];
  claimedUntilMs: number;
  findings: Findings;
}): { claimed: number; cut: number } {
  const { rows, claims, claimedUntilMs, findings } = parts;
  const byId = new Map(rows.map((row, position) => [row.id, { row, position }]));
  const claimed = new Set<number>();
  let last = -1;
  for (const { messages = [], fromMs } of claims) {
    for (const { id, digest } of messages) {
      const key = `row ${id}`;
      const found = byId.get(id);
      if (claimed.has(id)) findings.add('claimed_twice', key, `again at ${clock(fromMs)}`);
      claimed.add(id);
      if (found === undefined || digestOf(found.row) !== digest) {
        findings.add('claim_altered', key, found === undefined ? 'not in the history' : 'another text');
        continue;
      }
      if (found.position < last) findings.add('claim_order', key, `claimed late, at ${clock(fromMs)}`);
      last = Math.max(last, found.position);
    }
  }
  const cuts = claims.filter(({ messages }) => messages === undefined);
  let cut = 0;
  for (const { id, createdAt, deliveredAt } of rows) {
    if (claimed.has(id)) continue;
    if (deliveredAt === null) {
      if (Date.parse(createdAt) > claimedUntilMs - CLOCK_SLACK_MS) continue;
      findings.add('unclaimed', `row ${id}`, 'never claimed');
      continue;
    }
    const atMs = Date.parse(deliveredAt);
    const isCut = cuts.some(
      ({ fromMs, untilMs }) => atMs >= fromMs - CLOCK_SLACK_MS && atMs <= untilMs + CLOCK_SLACK_MS,
    );
    if (isCut) cut += 1;
    else findings.add('claim_lost', `row ${id}`, `claimed at ${deliveredAt}, no answer was cut then`);
  }
  return { claimed: claimed.size, cut };
}
