// The composition root: the host's modems and journal, their metrics and their link, started and stopped in order.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { OpenPort } from '../at/port.ts';
import type { Settings } from '../config/options.ts';
import { openHost } from '../host/host.ts';
import { CommandHandler } from '../link/command-handler.ts';
import { ControlLink } from '../link/control-link.ts';
import { IdentityFile } from '../link/identity.ts';
import { MediaLink } from '../link/media-link.ts';
import { countCommands, countFacts } from '../metrics/counting.ts';
import { NodeMetrics } from '../metrics/node-metrics.ts';
import { listenDesk } from '../operator/desk-socket.ts';
import { HostDesk } from '../operator/host-desk.ts';
import type { RecentLog } from '../operator/recent-log.ts';
import { SlotActivity } from '../operator/slot-activity.ts';
import { daemonWorkers } from '../service-manager/daemon-workers.ts';
import type { DaemonStatus } from '../service-manager/status-line.ts';
import type { Worker } from '../service-manager/worker.ts';
import { RecentEvents } from '../status-page/recent-events.ts';
import { SignalHistory } from '../status-page/signal-history.ts';
import { keepStatusPort } from '../status-page/status-port.ts';

/** What a program or a test brings along. */
export interface DaemonParts {
  readonly log: Logger;
  readonly clock?: Clock;
  /** How an AT port is opened; a serial device where nothing else is said. */
  readonly openPort?: OpenPort;
  /** What `log` has written, for the tools. */
  readonly recentLog?: RecentLog;
}

/** A daemon that runs until `stop`. */
export interface Daemon {
  /** Takes no new calls. Resolves when those that are up have ended, had their time, or `signal` is aborted. */
  drain(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  status(): DaemonStatus;
  /** Whose standstill a restart would heal. */
  workers(): readonly Worker[];
  /** Whether calls hang in the kernel: the process does not exit by itself then. */
  hasHangingPorts(): boolean;
}

/**
 * Starts the daemon of a host. Rejects when its data folder cannot be used; modems that are not there, a control plane
 * that does not answer and a port for metrics that another program has are waited for.
 */
export async function startDaemon(settings: Settings, parts: DaemonParts): Promise<Daemon> {
  const { config, dataDir } = settings;
  const host = await openHost(settings, { ...parts, isLinked: () => link.isLinked });
  const { calls, clock, guard, journal, log, rack } = host;
  const metrics = new NodeMetrics({
    slots: () => rack.slots(),
    journalDepth: () => journal.state.facts.size,
    isJournalFailing: () => journal.isFailing,
    isLinked: () => link.isLinked,
    alarms: () => host.alarms(),
    hangingCalls: () => guard.hanging,
    callsUp: () => calls.live.length,
  });
  const identity = new IdentityFile({ folder: dataDir, clock, log });
  const handler = new CommandHandler({
    rack,
    journal,
    limits: host.sendLimits,
    calls,
    clock,
    log,
    destinations: config.destinations,
    openMedia: async (baseUrl, ticket, events) => {
      const { controlPlaneUrl, isInsecure = false } = identity.current ?? {};
      const url = baseUrl ?? controlPlaneUrl;
      if (url === undefined) throw new Error('this node is not enrolled');
      return MediaLink.open(url, ticket, { clock, log, events, isInsecure });
    },
  });
  const commands = countCommands(handler, metrics);
  await identity.open();
  if (journal.isNew && identity.current !== undefined) {
    log.warn(
      { folder: dataDir, journalId: journal.state.journalId },
      'this node is enrolled and has no journal: unless it starts for the first time, messages may be lost',
    );
  }
  const link: ControlLink = new ControlLink({
    identity,
    journal,
    commands,
    clock,
    log,
    slots: () => rack.slots(),
    calls: () => calls.live,
    alarms: () => host.alarms(),
  });
  host.observe({
    slotsChanged: () => link.slotsChanged(),
    portOpened: (slot) => metrics.modems.portOpened(slot),
    commandEnded: (slot, end) => metrics.modems.commandEnded(slot, end),
    stepTaken(slot, step, trouble) {
      metrics.modems.stepTaken(slot, step, trouble);
      const at = new Date(clock.now()).toISOString();
      link.tell({ slot, kind: 'recovery_step', detail: `${step}: ${trouble}`, at });
    },
    callChanged: (call) => link.callChanged(call),
  });
  journal.onFailing(() => {
    if (journal.isFailing) metrics.journalFailed();
    link.slotsChanged();
  });
  countFacts(journal, {
    fact: (fact, iccid) => metrics.facts.fact(fact, iccid === undefined ? undefined : rack.find(iccid)?.name),
  });
  const signals = new SignalHistory(clock, () => rack.slots());
  const events = new RecentEvents(host);
  const startedAt = clock.now();
  const { metricsPort } = config;
  const statusPort =
    metricsPort === undefined
      ? undefined
      : await keepStatusPort({
          registry: metrics.registry,
          port: metricsPort,
          clock,
          log,
          status: () => ({
            nodeId: identity.current?.nodeId,
            controlPlane: hostOf(identity.current?.controlPlaneUrl),
            isLinked: link.isLinked,
            alarms: host.alarms(),
            slots: rack.slots(),
            calls: calls.live,
            journalDepth: journal.state.facts.size,
            isJournalFailing: journal.isFailing,
            signalOf: (slot) => signals.of(slot),
            events: events.all,
            startedAt,
            now: clock.now(),
          }),
        });
  const activity = new SlotActivity(host, () => link.isLinked);
  const { recentLog } = parts;
  const desk = new HostDesk({ host, commands, activity, recentLog });
  const deskSocket = await listenDesk(desk, settings, log);
  signals.start();
  host.start();
  link.start();
  log.info({ nodeId: identity.current?.nodeId, slots: rack.slots().map(({ slot }) => slot) }, 'started');
  return {
    drain: (signal) => calls.drain(config.drainMs, signal),
    status: () => ({
      slots: rack.slots(),
      isEnrolled: identity.current !== undefined,
      isLinked: link.isLinked,
      callsUp: calls.live.length,
      isDraining: calls.isDraining,
    }),
    workers: () => daemonWorkers({ rack, journal, link }),
    async stop() {
      await deskSocket.stop();
      await desk.close();
      signals.stop();
      await host.stop();
      identity.close();
      await link.stop();
      await host.close();
      await statusPort?.stop();
    },
    hasHangingPorts: () => guard.hanging > 0,
  };
}

const hostOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : new URL(url).host;
