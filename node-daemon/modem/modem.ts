// One modem: opens it, serves it, and recovers it whenever it is lost. No other modem is affected.
import { type Clock, sleep } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { Slot } from '#shared/link/slot.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import { AtChannel } from '../at/channel.ts';
import type { CommandEnd } from '../at/command-end.ts';
import type { OpenPort } from '../at/port.ts';
import type { CarrierSettings, SimSettings } from '../config/node-config.ts';
import type { Journal } from '../journal/journal.ts';
import { type ModemShares, modemShares } from '../journal/share.ts';
import { DeviceHistory, ModemLocation } from '../slot/location.ts';
import type { Place } from '../slot/place.ts';
import { SlotRecord } from '../slot/slot-record.ts';
import type { Telephone, Telephony } from '../voice/telephone.ts';
import { findPort } from './find-port.ts';
import { ModemRecovery } from './modem-recovery.ts';
import { untilPortsAppear } from './port-appearance.ts';
import { Liveness } from './recovery/liveness.ts';
import type { OutsideSteps } from './recovery/outside-steps.ts';
import type { RecoveryLimits, RecoveryStep } from './recovery/recovery.ts';
import type { Trouble } from './recovery/trouble.ts';
import { ModemSession } from './session.ts';
import { type HostClaims, ModemClaims } from './sim/claims.ts';
import type { SmsOutbox } from './sms/sms-outbox.ts';

/** At a stop, the modem gets this time to finish its current message. */
const STOP_SENDING_MS = 5_000;
/** The stop does not wait longer for an open that hangs. */
const STOP_MS = 2_000;

/** Gets the events of modems. */
interface ModemObserver {
  onChange(): void;
  onOpen(modem: Modem): void;
  onStep(modem: Modem, step: RecoveryStep, trouble: Trouble): void;
  onStepFailed?(modem: Modem, step: RecoveryStep, why: string): void;
  /** Called at the end of a command, but not for commands before the modem identified itself. */
  onCommandEnd(modem: Modem, end: CommandEnd): void;
  /** Called when the modem is lost. The USB tree may show the cause. */
  onLoss(): void;
}

/** The parts that a modem uses. */
export interface ModemParts {
  /** The first name of its slot. */
  readonly slot: string;
  /** Its place; `undefined` if it has not appeared yet. */
  readonly place?: Place | undefined;
  readonly openPort: OpenPort;
  readonly journal: Journal;
  readonly sims: SimSettings;
  readonly carriers: CarrierSettings;
  readonly hostClaims: HostClaims;
  /** As in `SessionParts`. */
  readonly mayWriteSettings: boolean;
  readonly limits: RecoveryLimits;
  readonly outside: OutsideSteps;
  /** Returns whether the daemon may use the modem with this IMEI. Called for USB modems. */
  readonly admits: (imei: string) => boolean;
  readonly observer: ModemObserver;
  /** Returns the parts for calls at a place. Absent if there are no calls. */
  readonly telephonyAt?: (place: Place) => Telephony;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The open port of a modem. */
interface OpenedModem {
  readonly channel: AtChannel;
  /** One of the ports of a USB device. */
  readonly path?: string;
}

/** The supervisor of one modem. */
export class Modem {
  /** The operator's name of the place or the modem. */
  name: string;
  /** The first name of its slot, which never changes. */
  readonly id: string;
  readonly #parts: ModemParts;
  readonly #location: ModemLocation;
  readonly #record: SlotRecord;
  readonly #stopping = new AbortController();
  readonly #devices = new DeviceHistory();
  readonly #recovery: ModemRecovery;
  readonly #liveness = new Liveness();
  readonly #claims: ModemClaims;
  readonly #shares: ModemShares;
  #running: Promise<void> | undefined;
  #opened: OpenedModem | undefined;
  #session: ModemSession | undefined;

  constructor(parts: ModemParts) {
    this.#parts = parts;
    this.name = parts.slot;
    this.id = parts.place?.usb?.path ?? parts.slot;
    this.#claims = new ModemClaims(parts.hostClaims, () => this.#session?.checkSim());
    this.#shares = modemShares(parts);
    this.#location = new ModemLocation(parts.clock, parts.place);
    this.#record = new SlotRecord(parts.place, parts.clock, (before) => {
      const { state, reason } = this.#record.slot;
      if (state !== before.state || reason !== before.reason) {
        parts.log.info({ slot: this.name, state, ...(reason === null ? {} : { reason }) }, 'slot state');
      }
      parts.observer.onChange();
    });
    this.#recovery = new ModemRecovery({
      ...parts,
      location: this.#location,
      devices: this.#devices,
      record: this.#record,
      moves: (timeoutMs) => this.#liveness.during(this.#location.moves(timeoutMs, this.#stopping.signal)),
      onLoss: () => parts.observer.onLoss(),
      onStep: (step, trouble) => parts.observer.onStep(this, step, trouble),
      onStepFailed: (step, why) => parts.observer.onStepFailed?.(this, step, why),
      signal: this.#stopping.signal,
    });
  }

  /** The state of the slot. For a lost modem, parts of it are the last known ones. The same object until the state changes. */
  get slot(): Slot {
    return this.#record.named(this.name);
  }

  /** The outbox; `undefined` while the SIM is not in service. */
  get outbox(): SmsOutbox | undefined {
    return this.#session?.outbox;
  }

  /** The current session; `undefined` while the port is not open. */
  get session(): ModemSession | undefined {
    return this.#session;
  }

  /** The telephone; `undefined` while the SIM is not in service. */
  get telephone(): Telephone | undefined {
    return this.#session?.telephone;
  }

  /** Whether the device exists, in any state. */
  get isPlugged(): boolean {
    return this.#location.place !== undefined && this.#record.slot.reason !== 'absent';
  }

  /** Whether the device is a modem that must not be used. */
  get isRefused(): boolean {
    return this.#devices.isRefused(this.#location.place);
  }

  /** Whether the device has not identified itself as a modem that may be used. */
  get isUnidentified(): boolean {
    const { place } = this.#location;
    return place !== undefined && this.#devices.isUnidentified(place);
  }

  /** Whether the modem does not answer after all recovery steps. */
  get isGivenUp(): boolean {
    return this.#recovery.gaveUp && !this.#record.isAnswering;
  }

  /**
   * Grows while the daemon serves and recovers the modem; `undefined` while the daemon waits for it. All commands and opens have time
   * limits, so a count that does not change for minutes means that the loop hangs.
   */
  get steps(): number | undefined {
    const { steps } = this.#liveness;
    return steps === undefined ? undefined : steps + (this.#opened?.channel.exchanges ?? 0);
  }

  /** Serves the modem until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Call it when the device appeared, disappeared, or has other ports. */
  move(place: Place | undefined): void {
    const before = this.#location.place;
    if (JSON.stringify(place) === JSON.stringify(before)) return;
    const isOther = before?.ports.some((path) => place?.ports.includes(path)) !== true;
    const now = this.#parts.clock.now();
    if (place === undefined) this.#devices.noteDisappeared(now);
    else this.#devices.noteAppeared(place, now);
    this.#location.move(place);
    if (isOther && place !== undefined && place.ports.length > 0) this.#recovery.starting();
    // Closes the port at once. Otherwise the system could not give the next port the same name.
    const { channel, path } = this.#opened ?? {};
    const isOpen = path !== undefined && place?.ports.includes(path) === true;
    if (!isOpen) void channel?.close(new Error('the device disconnected'));
    // Its slot name is free for the next place at once, however long the closing takes.
    if (place === undefined) this.#record.reportLost('absent');
  }

  /**
   * Restarts the modem with the command of its make, after the message that it is sending. Resolves when the restart begins.
   * Throws `CommandRefusal`: `line_busy` during a call, also one that begins meanwhile, unless `force` is true; `slot_unavailable` if the
   * modem does not answer, because its recovery already runs.
   */
  async restart({ force }: { force: boolean }): Promise<void> {
    const { channel } = this.#opened ?? {};
    const check = (): void => {
      if (channel === undefined || channel !== this.#opened?.channel || this.#isStopping()) {
        const { state } = this.#record.slot;
        throw new CommandRefusal('slot_unavailable', `The slot is ${state}: its recovery already runs.`);
      }
      if (!force && this.telephone?.isBusy === true)
        throw new CommandRefusal('line_busy', 'The modem has a call.');
    };
    check();
    const { outbox } = this;
    const release = outbox?.pauseSending();
    try {
      await this.#atMost(STOP_SENDING_MS, outbox?.sendingDone());
      check();
      this.#recovery.requestRestart();
      await channel?.close(new Error('the modem is being restarted'));
    } finally {
      release?.();
    }
  }

  /** Call it when the values of SIM cards have changed. */
  simsChanged(): void {
    this.#session?.simsChanged();
  }

  /** Waits for the message that is being sent, and the end of a call, then closes the port. */
  async stop(): Promise<void> {
    const { outbox, telephone } = this;
    outbox?.close();
    telephone?.refuseCalls();
    await this.#atMost(
      STOP_SENDING_MS,
      Promise.all([
        outbox?.sendingDone(),
        telephone?.isBusy === true ? telephone.hangUp('abandoned').catch(() => undefined) : undefined,
      ]).then(() => undefined),
    );
    this.#stopping.abort(new Error('the daemon is stopping'));
    await this.#opened?.channel.close(new Error('the daemon is stopping'));
    await this.#atMost(STOP_MS, this.#running);
  }

  async #run(): Promise<void> {
    const { log, outside } = this.#parts;
    this.#recovery.starting();
    for (;;) {
      const place = await this.#liveness.during(
        untilPortsAppear({
          location: this.#location,
          outside,
          log,
          signal: this.#stopping.signal,
          isRefused: () => this.isRefused,
          onAway: (reason) => this.#record.reportLost(reason),
        }),
      );
      if (place === undefined) return;
      const error = await this.#serve(place).catch((reason: unknown) => reason);
      this.#session = undefined;
      this.#opened = undefined;
      if (this.#isStopping()) return;
      if (place === this.#location.place && !this.isRefused) await this.#recovery.afterSession(place, error);
    }
  }

  /** Runs one session from opening the port to its end. Always rejects. */
  async #serve(place: Place): Promise<never> {
    const { observer, telephonyAt } = this.#parts;
    this.#recovery.sessionBegins();
    this.#opened = await this.#open(place);
    const { channel } = this.#opened;
    observer.onOpen(this);
    channel.onCommandEnd((end) => observer.onCommandEnd(this, end));
    try {
      this.#stopping.signal.throwIfAborted();
      this.#session = new ModemSession({
        ...this.#parts,
        channel,
        claims: this.#claims,
        shares: this.#shares,
        ...(place.usb === undefined ? {} : { usbId: place.usb.id }),
        ...(telephonyAt === undefined ? {} : { telephony: telephonyAt(place) }),
        report: (report) => this.#record.report(report),
        onTurn: this.#liveness.turn,
      });
      return await this.#session.run();
    } catch (error) {
      await channel.close(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }

  async #open(place: Place): Promise<OpenedModem> {
    const { admits, clock, log, openPort } = this.#parts;
    if (place.usb === undefined) {
      const [path = ''] = place.ports;
      return { channel: new AtChannel(await openPort(path), clock, log) };
    }
    const parts = { openPort, clock, log, signal: this.#stopping.signal };
    const { channel, imei, path } = await findPort(place.ports, parts);
    // The slot must have its name before the first report about it.
    this.#record.report({ device_id: imei, usb_path: place.usb.path });
    if (!admits(imei)) {
      this.#devices.noteRefused(place);
      await channel.close(new Error('this modem must not be used'));
      throw new Error('this modem must not be used');
    }
    this.#devices.noteIdentified(place);
    this.#recovery.provePort(path);
    return { channel, path };
  }

  async #atMost(limitMs: number, promise: Promise<void> | undefined): Promise<void> {
    const patience = new AbortController();
    await Promise.race([promise, sleep(this.#parts.clock, limitMs, patience.signal).catch(() => undefined)]);
    patience.abort();
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}
