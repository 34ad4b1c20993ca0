// One run: traffic with everything breaking, then healing, quiet, and the checker over all histories.
import type { CheckTotals } from './checker/check-history.ts';
import { type Findings, listOf } from './checker/findings.ts';
import { type DisturbanceCounts, disturbancePlan } from './disturbance-plan.ts';
import { Disturber } from './disturber.ts';
import { checkedWhenQuiet } from './drain.ts';
import { FAULT_TABLE } from './fault-table.ts';
import { messagePlan } from './message-plan.ts';
import { Rack } from './rack.ts';
import { Rogue } from './rogue.ts';
import { SimulatedCarrier } from './simulated-carrier.ts';
import type { Subscriber } from './subscriber.ts';
import { Traffic } from './traffic.ts';

export interface RunOptions {
  seed: number;
  /** Each way. */
  messages: number;
  modems: number;
  counts: DisturbanceCounts;
  /** Names of templates not to play; `rogue`: no node that claims all SIMs and forges for them. */
  without: readonly string[];
  dataDir: string;
  logLevel: string;
  /** Traffic that takes longer is ended. */
  trafficLimitMs: number;
  /** After healing: a send may wait a minute for its result, a message half a minute for a sweep. */
  drainLimitMs: number;
  /** Called every ten seconds, and for each phase. */
  onProgress: (text: string) => void;
}

export interface RunResult {
  findings: Findings;
  totals: CheckTotals;
  /** Accepted, each way. */
  accepted: { inbound: number; outbound: number };
  sends: number;
  played: ReadonlyMap<string, number>;
  skipped: number;
  trafficMs: number;
  drainMs: number;
  /** False when the time was over before all messages were accepted, or before everything was quiet. */
  isComplete: boolean;
  /** The actions of the rogue node, where there was one. */
  rogue: { forged: number; links: number } | undefined;
}

const REPORT_MS = 10_000;

export async function runHistory(options: RunOptions): Promise<RunResult> {
  const { seed, messages, modems, onProgress } = options;
  onProgress('starting the rack and buying the numbers …');
  const rack = await Rack.start(options);
  let rogue: Rogue | undefined;
  try {
    const sold = await rack.sell(modems);
    if (!options.without.includes('rogue')) {
      const { databaseUrl, url } = rack;
      rogue = await Rogue.begin({ url, databaseUrl, dataDir: options.dataDir, iccids: await rack.iccids() });
    }
    const carrier = await SimulatedCarrier.watch(rack.simulatorUrl, ({ modem, kind }) => {
      if (kind === 'deliver') traffic.onDelivered(modem);
    });
    const numbers = carrier.numbers;
    const subscribers = numbers.map((number) => subscriberOf(sold, number));
    const perModem = Math.ceil(messages / modems);
    const table = FAULT_TABLE.filter(({ kind }) => !options.without.includes(kind));
    const plan = disturbancePlan(seed, {
      modems,
      table,
      counts: options.counts,
      messages: 2 * perModem * modems,
    });
    const disturber = new Disturber({ rack, carrier, plan });
    const traffic: Traffic = new Traffic({
      carrier,
      subscribers,
      perModem,
      plan: messagePlan(seed, numbers),
      onProgress: (accepted) => disturber.onProgress(accepted),
    });

    const beganAtMs = Date.now();
    const report = setInterval(() => onProgress(progressOf(traffic, beganAtMs)), REPORT_MS);
    const limit = setTimeout(() => traffic.end(), options.trafficLimitMs);
    await traffic.run().finally(() => clearTimeout(limit));
    const trafficMs = Date.now() - beganAtMs;
    onProgress(`${progressOf(traffic, beganAtMs)}; healing`);
    await disturber.heal(modems);
    const healedAtMs = Date.now();
    const checked = await checkedWhenQuiet({ ...options, carrier, traffic, disturber, subscribers, rogue });
    clearInterval(report);
    await rogue?.stop();
    const { inbound, outbound } = traffic.accepted;
    return {
      ...checked,
      accepted: traffic.accepted,
      sends: traffic.outbound.size,
      played: disturber.counts(),
      skipped: disturber.skipped,
      trafficMs,
      drainMs: Date.now() - healedAtMs,
      rogue: rogue?.counts,
      isComplete: Math.min(inbound, outbound) >= perModem * modems,
    };
  } finally {
    await rogue?.stop();
    await rack.stop();
  }
}

function subscriberOf(sold: ReadonlyMap<string, Subscriber>, number: string): Subscriber {
  const subscriber = sold.get(number);
  if (subscriber === undefined) throw new Error(`no holder got ${number}`);
  return subscriber;
}

function progressOf({ accepted, claimed, refusals }: Traffic, beganAtMs: number): string {
  const seconds = (Date.now() - beganAtMs) / 1000;
  const rate = ((accepted.inbound + accepted.outbound) / seconds).toFixed(0);
  const megabytes = (process.memoryUsage().rss / 2 ** 20).toFixed(0);
  return (
    `${seconds.toFixed(0)} s: ${accepted.inbound} in, ${accepted.outbound} out, ${claimed} claimed, ` +
    `${rate} messages/s, ${megabytes} MiB; not sent: ${listOf(refusals)}`
  );
}
