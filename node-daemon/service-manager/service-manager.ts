// Notifies systemd: that the daemon is ready, its status, its watchdog, and the time that its stop needs.
import { type Clock, every, type Timer } from '#shared/clock.ts';
import type { Slot } from '#shared/link/slot.ts';
import type { Logger } from '#shared/log.ts';
import { type Assignments, type Notify, notifySocket } from '#shared/process/notify-socket.ts';
import { LINK_WORDS, type LinkState } from '../link/control-link.ts';
import { HangDetector, type Worker } from './worker.ts';

/** A change of the status is sent within this time. */
const STATUS_MS = 5_000;
/** Interval of requests for `EXTENSION_MS` more time while the daemon stops. */
const EXTEND_MS = 5_000;
const EXTENSION_MS = 30_000;

/** The variables that the service manager sets in the environment of the process (sd_notify(3), sd_watchdog_enabled(3)). */
interface ServiceEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

/** The daemon as the service manager sees it. */
interface WatchedDaemon {
  status(): DaemonStatus;
  workers(): readonly Worker[];
}

interface ServiceManagerParts {
  readonly environment: ServiceEnvironment;
  readonly pid: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly notify?: Notify;
}

export class ServiceManager {
  readonly #parts: ServiceManagerParts;
  /** Undefined if no service manager started this process. Then nothing is sent. */
  readonly #notify: Notify | undefined;
  readonly #timers = new Map<string, Timer>();
  /** Settles when all is sent. */
  #sent: Promise<void> = Promise.resolve();
  #status: string | undefined;
  #isHangLogged = false;

  constructor(parts: ServiceManagerParts) {
    this.#parts = parts;
    const { NOTIFY_SOCKET: socket = '' } = parts.environment;
    this.#notify = socket === '' ? undefined : (parts.notify ?? notifySocket(socket, parts.log));
  }

  /** Reports that the daemon has started. Then sends its status, and notifies the watchdog while its workers do not hang. */
  async ready(daemon: WatchedDaemon): Promise<void> {
    if (this.#notify === undefined) return;
    this.#status = statusLine(daemon.status());
    await this.#notify({ READY: 1, STATUS: this.#status });
    this.#every('status', STATUS_MS, () => this.#sendStatus(daemon));
    const watchdogMs = watchdogTime(this.#parts.environment, this.#parts.pid);
    if (watchdogMs === undefined) return;
    const watch = new HangDetector(() => daemon.workers());
    const beatMs = watchdogMs / 2;
    this.#every('watchdog', beatMs, () => this.#feed(watch.check(beatMs)));
  }

  /** Reports that the daemon is stopping, and asks for more time until `stopped`. */
  stopping(): void {
    if (this.#notify === undefined) return;
    this.#send({ STOPPING: 1, ...extension });
    this.#every('extension', EXTEND_MS, () => this.#send(extension));
  }

  /** Stops all notifications. Resolves when the last one is sent. */
  stopped(): Promise<void> {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    return this.#sent;
  }

  #send(assignments: Assignments): void {
    this.#sent = this.#notify?.(assignments) ?? this.#sent;
  }

  #sendStatus(daemon: WatchedDaemon): void {
    const status = statusLine(daemon.status());
    if (status === this.#status) return;
    this.#status = status;
    this.#send({ STATUS: status });
  }

  /** Notifies the watchdog unless a worker hangs. Without notifications the service manager restarts the daemon. */
  #feed(still: readonly string[]): void {
    if (still.length === 0) {
      this.#isHangLogged = false;
      this.#send({ WATCHDOG: 1 });
    } else if (!this.#isHangLogged) {
      this.#isHangLogged = true;
      this.#parts.log.error(
        { workers: still },
        'parts of the daemon hang: no watchdog notification until they continue',
      );
    }
  }

  #every(name: string, periodMs: number, run: () => void): void {
    this.#timers.get(name)?.cancel();
    this.#timers.set(name, every(this.#parts.clock, periodMs, run));
  }
}

const extension = { EXTEND_TIMEOUT_USEC: EXTENSION_MS * 1_000 } as const;

/** Returns the watchdog's time limit for this process; undefined if it has none. */
function watchdogTime({ WATCHDOG_PID, WATCHDOG_USEC }: ServiceEnvironment, pid: number): number | undefined {
  const microseconds = Number(WATCHDOG_USEC);
  const isForUs = (WATCHDOG_PID ?? '') === '' || Number(WATCHDOG_PID) === pid;
  return isForUs && Number.isSafeInteger(microseconds) && microseconds > 0 ? microseconds / 1_000 : undefined;
}

/** The status of the daemon. */
export interface DaemonStatus {
  readonly slots: readonly Slot[];
  readonly link: LinkState;
  readonly callsUp: number;
  /** Whether it waits for calls to end and starts no new ones. */
  readonly isDraining: boolean;
}

/** Returns, for example, "3 of 4 slots registered, linked, 1 call up". */
function statusLine({ slots, link, callsUp, isDraining }: DaemonStatus): string {
  const registered = slots.filter(({ state }) => state === 'registered').length;
  const calls = callsUp === 0 ? [] : [`${callsUp} ${callsUp === 1 ? 'call' : 'calls'} up`];
  const parts = [
    ...(isDraining ? ['stopping after the last call'] : []),
    `${registered} of ${slots.length} ${slots.length === 1 ? 'slot' : 'slots'} registered`,
    LINK_WORDS[link],
    ...calls,
  ];
  return parts.join(', ');
}
