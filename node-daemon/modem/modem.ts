// One modem: opens it, serves it, and recovers it whenever it is lost. No other modem is affected.
import { type Clock, sleep } from '#shared/clock.ts';
import type { Slot } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { AtChannel } from '../at/channel.ts';
import type { CommandEnd } from '../at/command-end.ts';
import type { OpenPort } from '../at/port.ts';
import type { SimSettings } from '../config/sim-settings.ts';
import type { Journal } from '../journal/journal.ts';
import type { Telephone, Telephony } from '../voice/telephone.ts';
import { findPort } from './find-port.ts';
import { ModemRecovery } from './modem-recovery.ts';
import { KnownModem } from './place/known-modem.ts';
import { ModemLocation } from './place/location.ts';
import type { Place } from './place/place.ts';
import { untilPortsAppear } from './port-appearance.ts';
import { Liveness } from './recovery/liveness.ts';
import type { OutsideSteps } from './recovery/outside-steps.ts';
import type { RecoveryLimits, RecoveryStep } from './recovery/recovery.ts';
import { sessionFailureOf } from './recovery/session-failure.ts';
import type { Trouble } from './recovery/trouble.ts';
import { ModemSession } from './session.ts';
import { CommandRefusal } from './slot/command-refusal.ts';
import { SlotRecord } from './slot/slot-record.ts';
import type { SmsOutbox } from './sms/sms-outbox.ts';

/** Searching for a device that is not there costs nothing, and it comes back at any time. */
const ABSENT_RETRY_MS = 500;
/** Another program has the port, or the rights are missing: the operator has to act. */
const DENIED_RETRY_MS = 5_000;
/** At a stop the message that the modem has gets this long to be accepted. */
const STOP_SENDING_MS = 5_000;
/** An open that hangs is not waited for. */
const STOP_MS = 2_000;

/** Listens to events of modems. */
interface ModemObserver {
  onChange(): void;
  onOpen(modem: Modem): void;
  onStep(modem: Modem, step: RecoveryStep, trouble: Trouble): void;
  /** A command on the line has ended. Commands before the modem gave its identity are not reported. */
  onCommandEnd(modem: Modem, end: CommandEnd): void;
  /** Something is wrong with the device: the USB tree may show the cause. */
  onLoss(): void;
}

/** The parts that a modem uses. */
export interface ModemParts {
  /** The first name of its slot. */
  readonly slot: string;
  /** Where it is; `undefined`: it has not come yet. */
  readonly place?: Place | undefined;
  readonly openPort: OpenPort;
  readonly journal: Journal;
  readonly sims: SimSettings;
  readonly limits: RecoveryLimits;
  readonly outside: OutsideSteps;
  /** Whether the modem with this IMEI may be used; asked for modems of USB devices. */
  readonly admits: (imei: string) => boolean;
  readonly observer: ModemObserver;
  /** The parts that calls need, at a place; absent where there are no calls. */
  readonly telephonyAt?: (place: Place) => Telephony;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The supervisor of one modem. */
export class Modem {
  /** The operator's name for the place, or for the modem. */
  name: string;
  /** Its first name, which it keeps. */
  readonly id: string;
  readonly #parts: ModemParts;
  readonly #location: ModemLocation;
  readonly #record: SlotRecord;
  readonly #stopping = new AbortController();
  readonly #known = new KnownModem();
  readonly #recovery: ModemRecovery;
  #session: ModemSession | undefined;
  #channel: AtChannel | undefined;
  /** Of the open port. */
  #path: string | undefined;
  /** A modem that may not be used is left alone until something else is there. */
  #refused: Place | undefined;
  #running: Promise<void> | undefined;
  readonly #liveness = new Liveness();
  /** The session that is up ends for this. */
  #isRestartRequested = false;

  constructor(parts: ModemParts) {
    this.#parts = parts;
    this.name = parts.slot;
    this.id = parts.place?.usb?.path ?? parts.slot;
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
      record: this.#record,
      moves: (timeoutMs) => this.#moves(timeoutMs),
      onStep: (step, trouble) => parts.observer.onStep(this, step, trouble),
      signal: this.#stopping.signal,
    });
  }

  /** The contents of the slot; of a lost modem, the last contents. */
  get slot(): Slot {
    return { slot: this.name, ...this.#record.slot };
  }

  /** Where to send messages; `undefined` while the SIM is not in service. */
  get outbox(): SmsOutbox | undefined {
    return this.#session?.outbox;
  }

  /** The life that the modem lives now; `undefined` while its port is not open. */
  get session(): ModemSession | undefined {
    return this.#session;
  }

  /** For calls; `undefined` while the SIM is not in service. */
  get telephone(): Telephone | undefined {
    return this.#session?.telephone;
  }

  /** Whether there is a device, whatever its state. */
  get isPlugged(): boolean {
    return this.#location.place !== undefined && this.#record.slot.reason !== 'absent';
  }

  /** Whether the device holds a modem that may not be used. */
  get isRefused(): boolean {
    return this.#refused !== undefined && this.#refused === this.#location.place;
  }

  /** Whether the device may be no modem, or not one to be used: it has not given its identity. */
  get isStranger(): boolean {
    const { place } = this.#location;
    return place !== undefined && this.#known.isStranger(place);
  }

  /** Whether all was tried and the modem does still not answer. */
  get isGivenUp(): boolean {
    return this.#recovery.gaveUp && !this.#record.isAnswering;
  }

  /**
   * Grows as the modem is served and recovered; `undefined` while the daemon waits for it. Every command has a time-out and every open a
   * limit, so a count that stands still for minutes never grows again.
   */
  get steps(): number | undefined {
    const { steps } = this.#liveness;
    return steps === undefined ? undefined : steps + (this.#channel?.exchanges ?? 0);
  }

  /** Begins to serve, and goes on until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** The device came, went, or offers other ports. */
  move(place: Place | undefined): void {
    const before = this.#location.place;
    if (JSON.stringify(place) === JSON.stringify(before)) return;
    const isOther = before?.ports.some((path) => place?.ports.includes(path)) !== true;
    const now = this.#parts.clock.now();
    if (place === undefined) this.#known.left(now);
    else this.#known.arrives(place, now);
    this.#location.move(place);
    if (isOther && place !== undefined && place.ports.length > 0) this.#recovery.starting();
    // All of the device is closed at once, or the system could not give its port the same name again.
    const isOpen = this.#path !== undefined && place?.ports.includes(this.#path) === true;
    if (!isOpen) void this.#channel?.close(new Error('the device disconnected'));
    // Its name is free for where it is plugged in next, however long the closing takes.
    if (place === undefined) this.#record.reportLost('absent');
  }

  /**
   * Restarts the modem by the command of its make, once a message that it is sending has its end. Resolves when that has
   * begun. Throws `CommandRefusal`: `line_busy` while a call is up, unless by `force`; `slot_unavailable` where the modem does
   * not answer, for then it is being brought back already.
   */
  async restart({ force }: { force: boolean }): Promise<void> {
    const { state } = this.#record.slot;
    if (this.#channel === undefined || this.#isStopping())
      throw new CommandRefusal('slot_unavailable', `The slot is ${state}: its recovery already runs.`);
    if (!force && this.telephone?.isBusy === true)
      throw new CommandRefusal('line_busy', 'The modem has a call.');
    const channel = this.#channel;
    this.#isRestartRequested = true;
    const { outbox } = this;
    outbox?.close();
    await this.#atMost(STOP_SENDING_MS, outbox?.sendingDone());
    await channel.close(new Error('the modem is being restarted'));
  }

  /** Lets the message that is being sent end, then closes the port. */
  async stop(): Promise<void> {
    const outbox = this.outbox;
    outbox?.close();
    const { telephone } = this;
    await this.#atMost(
      STOP_SENDING_MS,
      Promise.all([
        outbox?.sendingDone(),
        telephone?.isBusy === true ? telephone.hangUp('abandoned').catch(() => undefined) : undefined,
      ]).then(() => undefined),
    );
    this.#stopping.abort(new Error('the daemon is stopping'));
    await this.#channel?.close(new Error('the daemon is stopping'));
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
      this.#channel = undefined;
      this.#path = undefined;
      if (this.#isStopping()) return;
      if (place === this.#location.place && !this.isRefused) await this.#recover(place, error);
    }
  }

  /** One life of the modem; always rejects. */
  async #serve(place: Place): Promise<never> {
    const { clock, journal, log, observer, sims, telephonyAt } = this.#parts;
    this.#record.beginCounting();
    this.#isRestartRequested = false;
    const channel = await this.#open(place);
    this.#channel = channel;
    observer.onOpen(this);
    channel.onCommandEnd((end) => observer.onCommandEnd(this, end));
    try {
      this.#stopping.signal.throwIfAborted();
      this.#session = new ModemSession({
        channel,
        journal,
        clock,
        log,
        sims,
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

  async #open(place: Place): Promise<AtChannel> {
    const { admits, clock, log, openPort } = this.#parts;
    if (place.usb === undefined) {
      const [path = ''] = place.ports;
      return new AtChannel(await openPort(path), clock, log);
    }
    const { channel, imei, path } = await findPort(place.ports, {
      openPort,
      clock,
      log,
      signal: this.#stopping.signal,
    });
    // The slot gets its name before anything else is reported of it.
    this.#record.report({ device_id: imei, usb_path: place.usb.path });
    if (!admits(imei)) {
      this.#refused = place;
      await channel.close(new Error('this modem must not be used'));
      throw new Error('this modem must not be used');
    }
    this.#known.meet(place);
    this.#path = path;
    this.#recovery.provePort(path);
    return channel;
  }

  async #recover(place: Place, error: unknown): Promise<void> {
    const { log, observer } = this.#parts;
    if (this.#isRestartRequested) {
      this.#isRestartRequested = false;
      await this.#recovery.restart(place);
      return;
    }
    const failure = sessionFailureOf(error);
    if (this.#known.isStranger(place)) {
      const waitMs = this.#known.askAgainMs();
      log.info({ err: error, waitMs }, 'the device did not identify itself as a modem: asking again later');
      this.#record.reportLost(failure);
      await this.#moves(waitMs);
      return;
    }
    if (failure === 'absent' || failure === 'denied') {
      if (this.#record.slot.reason !== failure) log.warn({ err: error }, 'failed to open the port');
      this.#record.reportLost(failure);
      await this.#moves(failure === 'absent' ? ABSENT_RETRY_MS : DENIED_RETRY_MS);
      if (failure === 'absent') this.#recovery.starting();
      return;
    }
    observer.onLoss();
    await this.#recovery.recover(place, failure, error);
  }

  async #atMost(limitMs: number, promise: Promise<void> | undefined): Promise<void> {
    const patience = new AbortController();
    await Promise.race([promise, sleep(this.#parts.clock, limitMs, patience.signal).catch(() => undefined)]);
    patience.abort();
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #moves(timeoutMs: number | undefined): Promise<boolean> {
    return this.#liveness.during(this.#location.moves(timeoutMs, this.#stopping.signal));
  }
}
