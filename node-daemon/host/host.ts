// The modems of one host and their journal: the part that works with and without a control link.
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { loadResampler } from '#shared/voice/resample.ts';
import type { CommandEnd } from '../at/command-end.ts';
import { type OpenPort, serialPorts } from '../at/port.ts';
import { LiveSimSettings } from '../config/live-sim-settings.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { DaemonSettings } from '../config/options.ts';
import { DiskRoom, readRoom } from '../journal/disk-room.ts';
import { Journal } from '../journal/journal.ts';
import { Modem } from '../modem/modem.ts';
import { Rack, type RackSettings } from '../modem/rack.ts';
import { outsideSteps, recoveryLimits } from '../modem/recovery/outside-steps.ts';
import type { RecoveryStep } from '../modem/recovery/recovery.ts';
import type { Trouble } from '../modem/recovery/trouble.ts';
import { LateParts } from '../modem/sms/late-parts.ts';
import { SendLimits } from '../modem/sms/send-limits.ts';
import { concludeUnfinished } from '../modem/sms/unfinished-commands.ts';
import { refuseOthersFolder } from '../system/file-owners.ts';
import { guardOfProcess, type HangGuard } from '../system/hang-guard.ts';
import { UsbTreeReader } from '../usb/usb-tree.ts';
import { UsbWatch } from '../usb/usb-watch.ts';
import { CallRegistry } from '../voice/call-registry.ts';
import { audioAccess } from './audio-access.ts';

/** Name in the error of another program that wants the same data folder. */
const HOLDER = `another node-daemon (pid ${process.pid})`;

/** The parts that a program or a test supplies. */
interface HostParts {
  readonly log: Logger;
  readonly clock?: Clock | undefined;
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

/** Gets the events of a host. */
export interface HostObserver {
  readonly slotsChanged?: () => void;
  readonly portOpened?: (slot: string) => void;
  readonly stepTaken?: (slot: string, step: RecoveryStep, trouble: Trouble) => void;
  readonly stepFailed?: (slot: string, step: RecoveryStep, why: string) => void;
  readonly commandEnded?: (slot: string, end: CommandEnd) => void;
  readonly callChanged?: (call: LiveCall) => void;
}

/** The parts of a host, which has exclusive use of its data folder until `close`. */
export interface Host {
  readonly journal: Journal;
  readonly rack: Rack;
  readonly calls: CallRegistry;
  readonly sendLimits: SendLimits;
  readonly guard: HangGuard;
  readonly clock: Clock;
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
export async function openHost(
  settings: DaemonSettings,
  { log, clock = systemClock, isLinked, streamHoldMs = () => undefined, ...parts }: HostParts,
): Promise<Host> {
  const { config, dataDir, devRoot, sysfsRoot } = settings;
  const { guard = guardOfProcess(clock) } = parts;
  const { openPort = serialPorts({ clock, guard }) } = parts;
  refuseOthersFolder(dataDir);
  const unlock = await lockFolder(dataDir, 'node-daemon', 0o700, parts.holder ?? HOLDER);
  const journal = await Journal.open({ folder: dataDir, clock, log }).catch(async (error) => {
    await unlock();
    throw error;
  });
  await concludeUnfinished({ journal, clock, log });
  const observers: HostObserver[] = [];
  const notify = (what: (observer: HostObserver) => void): void => {
    for (const observer of observers) what(observer);
  };
  const calls = new CallRegistry({
    journal,
    clock,
    log,
    isLinked,
    streamHoldMs,
    onChange: (call) => notify((observer) => observer.callChanged?.(call)),
  });
  const createResampler = await loadResampler();
  const sims = new LiveSimSettings(config.sims);
  const modemParts = {
    openPort,
    journal,
    sims,
    carriers: config.carriers,
    mayWriteSettings: parts.mayWriteSettings ?? false,
    limits: recoveryLimits(config.recovery),
    clock,
    outside: outsideSteps(config, { sysfsRoot, clock, guard }),
    observer: {
      onChange() {
        rack.rename();
        notify((observer) => observer.slotsChanged?.());
      },
      onOpen: ({ name }: Modem) => notify((observer) => observer.portOpened?.(name)),
      onStep: ({ name }: Modem, step: RecoveryStep, trouble: Trouble) =>
        notify((observer) => observer.stepTaken?.(name, step, trouble)),
      onStepFailed: ({ name }: Modem, step: RecoveryStep, why: string) =>
        notify((observer) => observer.stepFailed?.(name, step, why)),
      onCommandEnd: ({ name }: Modem, end: CommandEnd) =>
        notify((observer) => observer.commandEnded?.(name, end)),
      onLoss: () => usb.check(),
    },
  };
  const rack: Rack = new Rack({
    ...rackSettings(config),
    devRoot,
    log,
    createModem: (options) =>
      new Modem({
        ...modemParts,
        ...options,
        telephonyAt: (place) => ({
          calls,
          createResampler,
          audioAccess: (voice) => audioAccess(place, voice, { openPort, sysfsRoot }),
        }),
        log: log.child({ modem: options.place.usb?.path ?? options.slot }),
      }),
  });
  const tree = new UsbTreeReader(sysfsRoot);
  const usb: UsbWatch = new UsbWatch({
    read: () => tree.read(),
    onChange: (devices) => rack.devicesChanged(devices),
    clock,
    log,
  });
  const lateParts = new LateParts({ journal, clock, log });
  const room = new DiskRoom({
    clock,
    read: () => readRoom(dataDir),
    onChange() {
      if (room.isScarce) log.warn({ data_dir: dataDir }, 'the disk is nearly full');
      notify((observer) => observer.slotsChanged?.());
    },
  });
  let isStarted = false;
  let isUsbWatched = false;
  let reconfigured: Promise<void> = Promise.resolve();
  const watchUsb = (): void => {
    if (isUsbWatched || !isStarted || !rack.wantsUsb) return;
    isUsbWatched = true;
    usb.start();
  };
  return {
    journal,
    rack,
    calls,
    guard,
    clock,
    log,
    sendLimits: new SendLimits(config.sendLimits, journal.state.commands, clock.now()),
    sims,
    observe: (observer) => void observers.push(observer),
    reconfigure(next) {
      // One that failed does not fail the next.
      reconfigured = reconfigured
        .catch(() => undefined)
        .then(async () => {
          sims.configure(next.sims);
          await rack.reconfigure(rackSettings(next));
          rack.simsChanged();
          watchUsb();
          notify((observer) => observer.slotsChanged?.());
        });
      return reconfigured;
    },
    alarms: () => [
      ...rack.alarms(),
      ...(journal.isFailing ? ['journal_unavailable'] : []),
      ...(room.isScarce ? ['disk_nearly_full'] : []),
      ...(guard.isExhausted ? ['ports_hang'] : []),
    ],
    start() {
      rack.start();
      isStarted = true;
      watchUsb();
      lateParts.start();
      void room.start();
    },
    async stop() {
      usb.stop();
      lateParts.stop();
      room.stop();
      await rack.stop();
      calls.stop();
    },
    async close() {
      await journal.close();
      await unlock();
    },
  };
}

const rackSettings = ({
  discover,
  ignore,
  slots,
}: Pick<NodeConfig, 'slots' | 'discover' | 'ignore'>): RackSettings => ({
  slots,
  discover: discover ?? true,
  ignore,
});
