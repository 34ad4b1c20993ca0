// A ring at one instance, for the watchers of others.
import type { Account } from '../../fixtures/agents/subscribed.ts';
import type { ScriptedLine } from '../../fixtures/nodes/scripted-line.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import type { Measurement } from '../report.ts';
import { ringMeasurements, ringTimes, watchPresence } from '../voice/presence-watch.ts';

const SOCKETS = 1_000;
const RINGS = 10;

export async function benchRings(
  urls: readonly string[],
  account: Account,
  line: ScriptedLine,
): Promise<Measurement[]> {
  const clients = Array.from({ length: SOCKETS }, (_, index) => ({
    url: String(urls[index % urls.length]),
    account,
  }));
  const watch = await watchPresence(clients);
  const iccidOf = (): string | null => slotAt(1).iccid;
  const rounds = await ringTimes(line, watch, { name: 'scale', rings: RINGS, perRing: SOCKETS, iccidOf });
  watch.stop();
  return ringMeasurements(`ring at one instance → ${SOCKETS} clients of two others,`, rounds, {
    remark: 'clients are one process',
    targets: [undefined, 40],
  });
}
