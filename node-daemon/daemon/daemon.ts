// The composition root: starts and stops the host's modems and journal, their metrics and their link, in order.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import type { OpenPort } from '../at/port.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { DaemonSettings } from '../config/options.ts';
import { type Host, openHost } from '../host/host.ts';
import { shownSlots } from '../host/shown-slots.ts';
import { countFacts } from '../metrics/counting.ts';
import { NodeMetrics } from '../metrics/node-metrics.ts';
import { HostOperator } from '../operator/host-operator.ts';
import { listenForCommands } from '../operator/operator-socket.ts';
import type { RecentLog } from '../operator/recent-log.ts';
import { SlotActivity } from '../operator/slot-activity.ts';
import type { DaemonStatus } from '../service-manager/service-manager.ts';
import { daemonWorkers, type Worker } from '../service-manager/worker.ts';
import { type HostLink, openLink } from './host-link.ts';
import { startStatusPage } from './status-page.ts';

/** The parts that a program or a test supplies. */
interface DaemonParts {
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Opens an AT port. Default: a serial device. */
  readonly openPort?: OpenPort;
  /** The latest lines of `log`, for the tools. */
  readonly recentLog?: RecentLog;
}

/** A daemon that runs until `stop`. */
export interface Daemon {
  /** Refuses new calls. Resolves when the calls in progress have ended, after their time, or when `signal` is aborted. */
  drain(signal: AbortSignal): Promise<void>;
  /** Uses the slots and the values of SIM cards of other settings. Resolves when it is done. Other values need a restart. */
  reload(next: DaemonSettings): Promise<void>;
  stop(): Promise<void>;
  status(): DaemonStatus;
  /** Workers that a restart would repair if they hang. */
  workers(): readonly Worker[];
  /** Whether system calls hang in the kernel. Then the process does not exit by itself. */
  hasHangingPorts(): boolean;
}

/**
 * Starts the daemon of a host. Rejects if it cannot use its data folder. The daemon waits for missing modems, for a control plane that
 * does not answer, and for a metrics port that another program has open.
 */
export async function startDaemon(settings: DaemonSettings, parts: DaemonParts): Promise<Daemon> {
  const { config, dataDir } = settings;
  const { recentLog } = parts;
  const isLinked = (): boolean => link.isLinked;
  const streamHoldMs = (): number | undefined => link.streamHoldMs;
  const host = await openHost(settings, { ...parts, isLinked, streamHoldMs, mayWriteSettings: true });
  const { calls, guard, journal, log, rack } = host;
  const metrics = startMetrics(host, isLinked);
  const { destinations, metricsPort } = config;
  const { commands, identity, link }: HostLink = await openLink(host, { dataDir, destinations, metrics });
  const statusPage = await startStatusPage(host, { dataDir, identity, link, metrics, port: metricsPort });
  const activity = new SlotActivity(host, link);
  const operator = new HostOperator({ host, commands, activity, recentLog });
  const operatorSocket = await listenForCommands(operator, settings, host);
  host.start();
  link.start();
  log.info({ nodeId: identity.current?.nodeId, slots: rack.slots().map(({ slot }) => slot) }, 'started');
  return {
    drain: (signal) => calls.drain(config.drainMs, signal),
    status: () => ({
      slots: rack.slots(),
      link: link.state,
      callsUp: calls.live.length,
      isDraining: calls.isDraining,
    }),
    reload: (next) => reload(host, settings, next),
    workers: () => daemonWorkers({ rack, journal, link }),
    async stop() {
      await operatorSocket.stop();
      await operator.close();
      await host.stop();
      identity.close();
      await link.stop();
      await host.close();
      await statusPage.stop();
    },
    hasHangingPorts: () => guard.hanging > 0,
  };
}

/** Values that only a restart changes, and their keys in the file. */
const FIXED = {
  carriers: 'carrier_settings',
  sendLimits: 'sms',
  destinations: 'destinations',
  recovery: 'recovery',
  modeSwitch: 'mode_switch',
  metricsPort: 'metrics',
  operatorSocket: 'operator_socket',
  drainMs: 'drain_seconds',
} as const satisfies Partial<Record<keyof NodeConfig, string>>;

/** The same, where an option of the command line overrides the file. */
const FIXED_OPTIONS = { dataDir: 'data_dir', logLevel: 'log_level' } as const;

async function reload(host: Host, settings: DaemonSettings, next: DaemonSettings): Promise<void> {
  const { config } = next;
  const fixed = [
    ...changedKeys(FIXED_OPTIONS, next, settings),
    ...changedKeys(FIXED, config, settings.config),
  ];
  await host.reconfigure(config);
  host.log.info({ slots: host.rack.slots().map(({ slot }) => slot) }, 'configuration reloaded');
  if (fixed.length > 0) host.log.warn({ changed: fixed }, 'these changes need a restart of the daemon');
}

/** The keys in the file of those of `fixed` that differ. */
const changedKeys = <K extends string>(
  fixed: Readonly<Record<K, string>>,
  next: Readonly<Record<NoInfer<K>, unknown>>,
  present: Readonly<Record<NoInfer<K>, unknown>>,
): string[] =>
  (Object.entries(fixed) as [K, string][]).flatMap(([key, name]) =>
    comparable(next[key]) === comparable(present[key]) ? [] : [name],
  );

/** JSON alone has no contents of sets and maps. */
const comparable = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, each) => (each instanceof Set || each instanceof Map ? [...each] : each));

/** Starts counting. */
function startMetrics(host: Host, isLinked: () => boolean): NodeMetrics {
  const { calls, guard, journal, rack } = host;
  const metrics = new NodeMetrics({
    slots: () => shownSlots(host),
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
  countFacts(journal, (fact, iccid) =>
    metrics.facts.fact(fact, iccid === undefined ? undefined : rack.find(iccid)?.name),
  );
  return metrics;
}
