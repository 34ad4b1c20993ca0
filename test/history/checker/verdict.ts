// The result of a run in words.
import type { RunOptions, RunResult } from '../run.ts';
import { listOf, RULES } from './findings.ts';

/** Several lines; the last one is the verdict. */
export function verdictOf(
  options: Pick<RunOptions, 'seed' | 'modems' | 'messages'>,
  result: RunResult,
): string {
  const { findings, totals, accepted, sends, played, skipped, trafficMs, drainMs, isComplete } = result;
  const rate = ((accepted.inbound + accepted.outbound) / (trafficMs / 1000)).toFixed(0);
  const lines = [
    `seed ${options.seed}, ${options.modems} modems, ${options.messages} messages each way`,
    `accepted: ${accepted.inbound} inbound, ${accepted.outbound} of ${sends} sends (${listOf(totals.statuses)})`,
    `received: ${totals.received}, claimed ${totals.claimed}, ${totals.claimsCut} in answers that were cut`,
    `on the air: ${totals.segmentsHeard} segments; order compared ${totals.orderCompared} times, ${totals.orderExcused} excused`,
    `broken: ${listOf(played)}; ${skipped} skipped`,
    ...(result.rogue === undefined
      ? []
      : [`rogue node: ${result.rogue.forged} forgeries on ${result.rogue.links} links`]),
    `took ${(trafficMs / 1000).toFixed(0)} s of traffic (${rate} messages/s), ${(drainMs / 1000).toFixed(0)} s to drain`,
    ...findings.examples.map(({ rule, key, story }) => `VIOLATION ${rule}: ${key}: ${story}`),
    ...[...findings.counts].map(([rule, count]) => `BROKEN ${count} times: ${RULES[rule]} (${rule})`),
  ];
  if (!isComplete) lines.push('INCOMPLETE: the time was over before all messages were accepted');
  lines.push(findings.total === 0 && isComplete ? 'verdict: every rule held' : 'verdict: FAILED');
  return lines.join('\n');
}
