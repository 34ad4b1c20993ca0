// After healing: waits until nothing is open any more, then checks; at the limit, checks what there is.
import { setTimeout as pause } from 'node:timers/promises';
import { type CheckTotals, HistoryChecker } from './checker/check-history.ts';
import type { Findings, Rule } from './checker/findings.ts';
import type { Disturber } from './disturber.ts';
import type { RunRecord } from './record.ts';
import type { Rogue } from './rogue.ts';
import type { SimulatedCarrier } from './simulated-carrier.ts';
import type { Subscriber } from './subscriber.ts';
import type { Traffic } from './traffic.ts';

/** No claim for this long, and nothing on any modem: what was under way has come. */
const QUIET_MS = 4_000;
const POLL_MS = 500;
const AGAIN_MS = 3_000;

/** Violations that time may still repair. */
const LATE: readonly Rule[] = ['lost', 'not_delivered', 'unclaimed', 'unsettled', 'claim_lost'];

interface DrainParts {
  carrier: SimulatedCarrier;
  traffic: Traffic;
  disturber: Disturber;
  /** By modem. */
  subscribers: readonly Subscriber[];
  rogue: Rogue | undefined;
  drainLimitMs: number;
  onProgress: (text: string) => void;
}

export async function checkedWhenQuiet(
  parts: DrainParts,
): Promise<{ findings: Findings; totals: CheckTotals }> {
  const { carrier, traffic, drainLimitMs, onProgress } = parts;
  const deadline = Date.now() + drainLimitMs;
  while (Date.now() < deadline) {
    await quiet(parts, deadline);
    const { findings } = await checkedNow(parts);
    const late = LATE.filter((rule) => findings.counts.has(rule));
    if (late.length === 0) break;
    onProgress(`not there yet: ${late.map((rule) => `${findings.counts.get(rule)} ${rule}`).join(', ')}`);
    await pause(AGAIN_MS);
  }
  await traffic.stopClaiming();
  await carrier.stop();
  return checkedNow(parts);
}

async function quiet({ carrier, traffic }: DrainParts, deadline: number): Promise<void> {
  const beganAtMs = Date.now();
  while (Date.now() < deadline) {
    const lastMs = Math.max(beganAtMs, traffic.lastClaimAtMs);
    if (Date.now() - lastMs >= QUIET_MS && (await carrier.stored()) === 0) return;
    await pause(POLL_MS);
  }
}

/** Number by number: only one history is in memory at a time. */
async function checkedNow(parts: DrainParts): Promise<{ findings: Findings; totals: CheckTotals }> {
  const { carrier, traffic, disturber, rogue, subscribers } = parts;
  const calls = await Promise.all(subscribers.map((subscriber) => subscriber.calls()));
  const run: RunRecord = {
    numbers: carrier.numbers,
    inbound: traffic.inbound,
    outbound: traffic.outbound,
    heard: carrier.heard,
    delivered: carrier.delivered,
    claims: traffic.claims,
    claimedUntilMs: traffic.claimedUntilMs,
    disturbances: disturber.records,
    eventsLost: carrier.eventsLost,
    rogueCommands: rogue?.commands ?? [],
    calls: calls.reduce((sum, count) => sum + count, 0),
  };
  const checker = new HistoryChecker(run);
  for (const [modem, subscriber] of subscribers.entries()) checker.check(modem, await subscriber.history());
  return checker;
}
