// One slot: opens its modem, serves it, and begins again whenever it is lost. No other slot notices.
import { type Clock, sleep } from '#shared/clock.ts';
import type { Slot } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { AtChannel } from '../at/channel.ts';
import type { OpenPort } from '../at/port.ts';
import { BackOff } from '../back-off.ts';
import type { Journal } from '../journal/journal.ts';
import { ModemSession, type SlotReport } from './session.ts';
import { NO_SIM_SETTINGS } from './sim-settings.ts';
import type { SmsOutbox } from './sms-outbox.ts';

const RETRY = { firstMinMs: 50, firstMaxMs: 250, capMs: 10_000 };
/** A device that is not there costs nothing to look for, and comes back at any time: no longer waits. */
const ABSENT_RETRY_MS = 500;
/** A modem that lived this long was well: what ended it is new. */
const STABLE_MS = 2_000;
/** At a stop the message that the modem has gets this long to be accepted. */
const STOP_SENDING_MS = 5_000;

/** Where the modem is and what its slot uses. */
export interface ModemParts {
  /** The operator's name for the place. */
  readonly slot: string;
  /** Path of the AT port. */
  readonly path: string;
  readonly openPort: OpenPort;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the slot has changed. */
  readonly onChange: () => void;
}

/** The supervisor of one slot. */
export class Modem {
  readonly #parts: ModemParts;
  readonly #backOff = new BackOff(RETRY);
  readonly #stopping = new AbortController();
  #slot: Slot;
  #session: ModemSession | undefined;
  #channel: AtChannel | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: ModemParts) {
    this.#parts = parts;
    this.#slot = {
      slot: parts.slot,
      state: 'starting',
      device_id: null,
      iccid: null,
      number: null,
      operator: null,
      signal_dbm: null,
      model: null,
      usb_path: null,
      reason: null,
    };
  }

  /** What is in the slot; of a lost modem what was there last. */
  get slot(): Slot {
    return this.#slot;
  }

  /** Where to send messages; `undefined` while the SIM is not in service. */
  get outbox(): SmsOutbox | undefined {
    return this.#session?.outbox;
  }

  /** Begins to serve, and goes on until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Lets the message that is being sent end, then closes the port. */
  async stop(): Promise<void> {
    const { clock } = this.#parts;
    const outbox = this.outbox;
    outbox?.close();
    if (outbox !== undefined) {
      const patience = new AbortController();
      await Promise.race([
        outbox.sendingDone(),
        sleep(clock, STOP_SENDING_MS, patience.signal).catch(() => undefined),
      ]);
      patience.abort();
    }
    this.#stopping.abort(new Error('the daemon stops'));
    await this.#channel?.close(new Error('the daemon stops'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal } = this.#stopping;
    while (!this.#isStopping()) {
      const startedAt = clock.now();
      const error = await this.#serve().catch((reason: unknown) => reason);
      this.#session = undefined;
      this.#channel = undefined;
      if (this.#isStopping()) return;
      const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (this.#slot.state !== 'lost') log.warn({ err: error }, 'modem lost');
      this.#report({ state: 'lost', operator: null, signal_dbm: null });
      if (clock.now() - startedAt >= STABLE_MS) this.#backOff.reset();
      const delayMs = absent ? ABSENT_RETRY_MS * (0.5 + Math.random() / 2) : this.#backOff.next();
      await sleep(clock, delayMs, signal).catch(() => undefined);
    }
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** One life of the modem; always rejects. */
  async #serve(): Promise<never> {
    const { clock, journal, log, openPort, path } = this.#parts;
    const port = await openPort(path);
    const channel = new AtChannel(port, clock, log);
    this.#channel = channel;
    try {
      this.#stopping.signal.throwIfAborted();
      this.#session = new ModemSession({
        ...{ channel, journal, clock, log, sims: NO_SIM_SETTINGS },
        report: (report) => this.#report(report),
      });
      return await this.#session.run();
    } catch (error) {
      await channel.close(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }

  #report(report: SlotReport): void {
    const slot = { ...this.#slot, ...report };
    const changed = (Object.keys(slot) as (keyof Slot)[]).some((key) => slot[key] !== this.#slot[key]);
    if (!changed) return;
    if (slot.state !== this.#slot.state) this.#parts.log.info({ state: slot.state }, 'slot state');
    this.#slot = slot;
    this.#parts.onChange();
  }
}
