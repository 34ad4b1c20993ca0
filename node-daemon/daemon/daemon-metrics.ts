// Creates the metrics of a daemon and counts the events of its host.
import type { Host } from '../host/host.ts';
import { countFacts } from '../metrics/counting.ts';
import { NodeMetrics } from '../metrics/node-metrics.ts';

/** Starts counting. */
export function startMetrics(host: Host, isLinked: () => boolean): NodeMetrics {
  const { calls, guard, journal, rack } = host;
  const metrics = new NodeMetrics({
    slots: () => rack.slots(),
    journalDepth: () => journal.state.facts.size,
    isJournalFailing: () => journal.isFailing,
    isLinked,
    alarms: () => host.alarms(),
    hangingCalls: () => guard.hanging,
    callsUp: () => calls.live.length,
  });
  host.observe({
    portOpened: (slot) => metrics.modems.portOpened(slot),
    commandEnded: (slot, end) => metrics.modems.commandEnded(slot, end),
    stepTaken: (slot, step, trouble) => metrics.modems.stepTaken(slot, step, trouble),
  });
  journal.onFailing(() => {
    if (journal.isFailing) metrics.journalFailed();
  });
  countFacts(journal, {
    fact: (fact, iccid) => metrics.facts.fact(fact, iccid === undefined ? undefined : rack.find(iccid)?.name),
  });
  return metrics;
}
