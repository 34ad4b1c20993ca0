// The modems of one host and their journal: the part that works with and without a control link.
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Random, systemRandom } from '#shared/random.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import { type OpenPort, serialPorts } from '../at/port.ts';
import { LiveSimSettings } from '../config/live-sim-settings.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { DaemonSettings } from '../config/options.ts';
import { DiskRoom, readRoom } from '../journal/disk-room.ts';
import type { Journal } from '../journal/journal.ts';
import type { Rack } from '../modem/rack.ts';
import { LateParts } from '../modem/sms/late-parts.ts';
import { SendLimits } from '../modem/sms/send-limits.ts';
import { guardOfProcess, type HangGuard } from '../system/hang-guard.ts';
import { CallRegistry } from '../voice/call-registry.ts';
import { openDataFolder } from './data-folder.ts';
import { HostEvents, type HostObserver } from './host-events.ts';
import { HostModems } from './host-modems.ts';

/** Name in the error of another program that wants the same data folder. */
const HOLDER = `another node-daemon (pid ${process.pid})`;

/** The parts that a program or a test supplies. */
interface HostParts {
  readonly log: Logger;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Opens an AT port. Default: a serial device. */
  readonly openPort?: OpenPort | undefined;
  /** Whether a control plane owns the calls. */
  readonly isLinked: () => boolean;
  /** As `CallRegistry`. */
  readonly streamHoldMs?: (() => number | undefined) | undefined;
  /** Name in the error of another program that wants the same data folder. Default: a daemon. */
  readonly holder?: string | undefined;
  /** Whether the settings in the flash memory of modems may be changed. Default: no, as for a tool that ends soon. */
  readonly mayWriteSettings?: boolean | undefined;
  /** Default: one of its own. */
  readonly guard?: HangGuard | undefined;
}

/** The parts of a host, which has exclusive use of its data folder until `close`. */
export interface Host {
  readonly journal: Journal;
  readonly rack: Rack;
  readonly calls: CallRegistry;
  readonly sendLimits: SendLimits;
  readonly guard: HangGuard;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly sims: LiveSimSettings;
  observe(observer: HostObserver): void;
  /** Uses other slots and other values of SIM cards. Resolves when it is done; calls take turns. */
  reconfigure(config: Pick<NodeConfig, 'slots' | 'discover' | 'ignore' | 'sims'>): Promise<void>;
  /** Alarms of the whole host, such as "journal_unavailable". */
  alarms(): string[];
  /** Starts to use the modems. */
  start(): void;
  /** Waits until the modems have sent their current messages, then closes their ports. */
  stop(): Promise<void>;
  /** Closes the journal and releases the folder. Call it after `stop`, when all appends have ended. */
  close(): Promise<void>;
}

/** Locks the data folder and opens its journal. Uses no modem before `start`. Throws `FolderInUseError`, `OthersFolderError`. */
export async function openHost(settings: DaemonSettings, parts: HostParts): Promise<Host> {
  const { config, dataDir } = settings;
  const { log, clock = systemClock, random = systemRandom } = parts;
  const { guard = guardOfProcess(clock) } = parts;
  const { openPort = serialPorts({ clock, guard }) } = parts;
  const folder = await openDataFolder(dataDir, { clock, log, holder: parts.holder ?? HOLDER });
  const { journal } = folder;
  const events = new HostEvents();
  const calls = createCalls(parts, { journal, clock, events });
  const createResampler = await loadResampler();
  const sims = new LiveSimSettings(config.sims);
  const mayWriteSettings = parts.mayWriteSettings ?? false;
  const modemParts = { openPort, journal, sims, mayWriteSettings, clock, random, log, guard, events };
  const modems = new HostModems(settings, { ...modemParts, calls, createResampler });
  const lateParts = new LateParts({ journal, clock, log });
  const room = watchDiskRoom(dataDir, { clock, log, events });
  return {
    journal,
    rack: modems.rack,
    calls,
    guard,
    clock,
    random,
    log,
    sendLimits: new SendLimits(config.sendLimits, journal.state.commands, clock.now()),
    sims,
    observe: (observer) => events.add(observer),
    reconfigure: (next) => modems.reconfigure(next),
    alarms: () => [
      ...modems.rack.alarms(),
      ...(journal.isFailing ? ['journal_unavailable'] : []),
      ...(room.isScarce ? ['disk_nearly_full'] : []),
      ...(guard.isExhausted ? ['ports_hang'] : []),
    ],
    start() {
      modems.start();
      lateParts.start();
      void room.start();
    },
    async stop() {
      lateParts.stop();
      room.stop();
      await modems.stop();
      calls.stop();
    },
    close: () => folder.close(),
  };
}

/** The calls of all modems. */
function createCalls(
  { isLinked, log, streamHoldMs = () => undefined }: HostParts,
  { events, ...parts }: { journal: Journal; clock: Clock; events: HostEvents },
): CallRegistry {
  const onChange = (call: LiveCall): void => events.notify((observer) => observer.callChanged?.(call));
  return new CallRegistry({ ...parts, log, isLinked, streamHoldMs, onChange });
}

/** The free space of the disk with the journal. */
function watchDiskRoom(
  dataDir: string,
  { clock, log, events }: { clock: Clock; log: Logger; events: HostEvents },
): DiskRoom {
  const room: DiskRoom = new DiskRoom({
    clock,
    read: () => readRoom(dataDir),
    onChange() {
      if (room.isScarce) log.warn({ data_dir: dataDir }, 'the disk is nearly full');
      events.notify((observer) => observer.slotsChanged?.());
    },
  });
  return room;
}
