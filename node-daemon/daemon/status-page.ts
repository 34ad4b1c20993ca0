// The status page and the metrics of a daemon, at the configured port.
import { enrollCommand } from '../config/enroll-command.ts';
import type { Host } from '../host/host.ts';
import { shownSlots } from '../host/shown-slots.ts';
import type { NodeMetrics } from '../metrics/node-metrics.ts';
import { RecentEvents } from '../status-page/recent-events.ts';
import { SignalHistory } from '../status-page/signal-history.ts';
import { keepStatusPort } from '../status-page/status-port.ts';
import type { HostLink } from './host-link.ts';

/** The parts that the page shows, besides the host. */
interface StatusPageParts extends Pick<HostLink, 'identity' | 'link'> {
  readonly metrics: NodeMetrics;
  readonly dataDir: string;
  /** `undefined`: there is no page. */
  readonly port: number | undefined;
}

/** The page collects data and is available until `stop`. Resolves after the first attempt to open the port. Never rejects. */
export async function startStatusPage(
  host: Host,
  { dataDir, identity, link, metrics, port }: StatusPageParts,
): Promise<{ stop(): Promise<void> }> {
  const { calls, clock, journal, log, rack } = host;
  const signals = new SignalHistory(clock, () => rack.slots());
  const events = new RecentEvents(host);
  const startedAt = clock.now();
  signals.start();
  const status = () => ({
    enrollCommand: enrollCommand(dataDir),
    nodeId: identity.current?.nodeId,
    controlPlane: hostOf(identity.current?.controlPlaneUrl),
    isLinked: link.isLinked,
    alarms: host.alarms(),
    slots: shownSlots(host),
    calls: calls.live,
    journalDepth: journal.state.facts.size,
    isJournalFailing: journal.isFailing,
    signalOf: (slot: string) => signals.of(slot),
    events: events.all,
    startedAt,
    now: clock.now(),
  });
  const { registry } = metrics;
  const served =
    port === undefined ? undefined : await keepStatusPort({ registry, port, clock, log, status });
  return {
    async stop() {
      signals.stop();
      await served?.stop();
    },
  };
}

const hostOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : new URL(url).host;
