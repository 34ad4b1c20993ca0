// The composition root: journal, modems and link of one host, started and stopped in order.
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { serveMetrics } from '#shared/process/metrics-server.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import { threadPoolSize } from '#shared/process/thread-pool.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { type OpenPort, serialPorts } from './at/port.ts';
import { audioAccess } from './audio/audio-access.ts';
import type { Settings } from './config.ts';
import { HangGuard } from './hang-guard.ts';
import { Journal } from './journal/journal.ts';
import { CommandHandler } from './link/command-handler.ts';
import { ControlLink } from './link/control-link.ts';
import { IdentityFile } from './link/identity.ts';
import { MediaLink } from './link/media-link.ts';
import { countCommands, countFacts } from './metrics/counting.ts';
import { NodeMetrics } from './metrics/node-metrics.ts';
import { LateParts } from './modem/late-parts.ts';
import { Modem, type ModemObserver } from './modem/modem.ts';
import { outsideSteps, recoveryLimits } from './modem/outside-steps.ts';
import { Rack } from './modem/rack.ts';
import { SendLimits } from './modem/send-limits.ts';
import { settleIntents } from './modem/sms-left-behind.ts';
import { UsbTreeReader } from './usb/usb-tree.ts';
import { UsbWatch } from './usb/usb-watch.ts';
import { CallBook } from './voice/call-book.ts';

/** Threads that hanging ports never get: for the journal's disk, name look-ups and the ports that work. */
const THREADS_KEPT = 3;

/** What a program or a test brings along. */
export interface DaemonParts {
  readonly log: Logger;
  readonly clock?: Clock;
  /** How an AT port is opened; a serial device where nothing else is said. */
  readonly openPort?: OpenPort;
}

/** A daemon that runs until `stop`. */
export interface Daemon {
  stop(): Promise<void>;
  /** Whether calls hang in the kernel: the process does not exit by itself then. */
  hasHangingPorts(): boolean;
}

/**
 * Starts the daemon of a host. Rejects when its data folder or metrics port cannot be used; modems that are
 * not there and a control plane that does not answer are waited for.
 */
export async function startDaemon(
  settings: Settings,
  { log, clock = systemClock, ...parts }: DaemonParts,
): Promise<Daemon> {
  const { config, dataDir, devRoot, sysfsRoot } = settings;
  const guard = new HangGuard(clock, Math.max(1, threadPoolSize() - THREADS_KEPT));
  const { openPort = serialPorts({ clock, guard }) } = parts;
  const unlock = await lockFolder(dataDir, 'node-daemon', 0o700);
  const journal = await Journal.open({ folder: dataDir, clock, log }).catch(async (error) => {
    await unlock();
    throw error;
  });
  await settleIntents({ journal, clock, log });
  const metrics: NodeMetrics = new NodeMetrics({
    slots: () => rack.slots(),
    journalDepth: () => journal.state.facts.size,
    isJournalFailing: () => journal.isFailing,
    isLinked: () => link.isLinked,
    hangingCalls: () => guard.hanging,
    callsUp: () => book.live.length,
  });
  const outside = outsideSteps(config, { sysfsRoot, clock, guard });
  const limits = recoveryLimits(config.recovery);
  const observer: ModemObserver = {
    onChange() {
      rack.rename();
      link.slotsChanged();
    },
    onOpen: ({ name }) => metrics.portOpened(name),
    onStep({ name }, step, trouble) {
      metrics.recoveryStep(name, step, trouble);
      const at = new Date(clock.now()).toISOString();
      link.tell({ slot: name, kind: 'recovery_step', detail: `${step}: ${trouble}`, at });
    },
    onLoss: () => usb.look(),
  };
  const book: CallBook = new CallBook({
    ...{ journal, clock, log },
    isLinked: () => link.isLinked,
    tell: (call) => link.callChanged(call),
  });
  const createResampler = await loadResampler();
  const rack: Rack = new Rack({
    ...{ slots: config.slots, discover: config.discover ?? true, ignore: config.ignore, devRoot, log },
    createModem: (options) =>
      new Modem({
        ...{ ...options, openPort, journal, sims: config.sims, limits, outside, observer, clock },
        telephonyAt: (place) => ({
          ...{ book, createResampler },
          audioAccess: (voice) => audioAccess(place, voice, { openPort, sysfsRoot }),
        }),
        log: log.child({ modem: options.place.usb?.path ?? options.slot }),
      }),
  });
  const tree = new UsbTreeReader(sysfsRoot);
  const usb: UsbWatch = new UsbWatch({
    read: () => tree.read(),
    onChange: (devices) => rack.devicesChanged(devices),
    ...{ clock, log },
  });
  const sendLimits = new SendLimits(config.sendLimits, journal.state.commands, clock.now());
  const identity = new IdentityFile({ folder: dataDir, clock, log });
  const commands = new CommandHandler({
    ...{ rack, journal, limits: sendLimits, calls: book, clock, log },
    openMedia: async (baseUrl, ticket, events) => {
      const url = baseUrl ?? identity.current?.controlPlaneUrl;
      if (url === undefined) throw new Error('this node is not enrolled');
      return MediaLink.open(url, ticket, { clock, log, events });
    },
  });
  await identity.open();
  if (journal.isNew && identity.current !== undefined) {
    log.warn(
      { folder: dataDir, journalId: journal.state.journalId },
      'this node is enrolled and has no journal: unless it starts for the first time, messages may be lost',
    );
  }
  const link: ControlLink = new ControlLink({
    ...{ identity, journal, commands: countCommands(commands, metrics), clock, log },
    slots: () => rack.slots(),
    calls: () => book.live,
    alarms: () => [
      ...rack.alarms(),
      ...(journal.isFailing ? ['journal_unavailable'] : []),
      ...(guard.isExhausted ? ['ports_hang'] : []),
    ],
  });
  journal.onFailing(() => {
    if (journal.isFailing) metrics.journalFailed();
    link.slotsChanged();
  });
  countFacts(journal, metrics);
  const lateParts = new LateParts({ journal, clock, log });
  const { metricsPort } = config;
  const metricsServer =
    metricsPort === undefined
      ? undefined
      : await serveMetrics(metrics.registry, { port: metricsPort, option: 'metrics.port' });
  rack.start();
  if (rack.wantsUsb) usb.start();
  lateParts.start();
  link.start();
  log.info({ nodeId: identity.current?.nodeId, slots: rack.slots().map(({ slot }) => slot) }, 'started');
  return {
    async stop() {
      usb.stop();
      lateParts.stop();
      await rack.stop();
      book.stop();
      identity.close();
      await link.stop();
      await journal.close();
      await metricsServer?.stop();
      await unlock();
    },
    hasHangingPorts: () => guard.hanging > 0,
  };
}
