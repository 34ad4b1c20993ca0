// One session with an opened modem: identify → SIM → service, until the modem must be opened or set up again.
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { findProfile } from '../profiles/find-profile.ts';
import type { ModemProfile } from '../profiles/profile.ts';
import { UNKNOWN_SERVICE } from '../slot/slot-record.ts';
import type { UsbId } from '../usb/usb-device.ts';
import { endLeftCalls } from '../voice/call-list.ts';
import type { Telephone } from '../voice/telephone.ts';
import { setFullFunctionality } from './full-functionality.ts';
import { identify } from './identity.ts';
import { Ussd } from './network/ussd.ts';
import { changeFromOutside } from './outside-change.ts';
import { Pauses } from './pauses.ts';
import { endOf, SessionEndedError } from './recovery/trouble.ts';
import { optional } from './set-up-commands.ts';
import type { ModemClaims } from './sim/claims.ts';
import { awaitSim } from './sim/sim-wait.ts';
import { type ServiceParts, SimService } from './sim-service.ts';
import type { SmsInbox } from './sms/sms-inbox.ts';
import type { SmsOutbox } from './sms/sms-outbox.ts';
import { UnknownUrcs } from './unknown-urcs.ts';

/** A modem answers only some seconds after it gets power. */
const WAKE_ATTEMPTS = 5;
const WAKE_TIMEOUT_MS = 1_000;

const FULL_STORE_LOG_MS = 60_000;

/** The parts that a session uses. */
export interface SessionParts extends ServiceParts {
  /** The ids of the modem's USB device, if it is one. */
  readonly usbId?: UsbId;
  readonly claims: ModemClaims;
  /** Called before each pause, to show that the session does not hang. */
  readonly onTurn?: () => void;
}

/** The steps from an opened channel to a slot in service, and the URCs of the channel. */
export class ModemSession {
  /** For an operator's commands. */
  readonly channel: AtChannel;
  readonly ussd: Ussd;
  readonly #parts: SessionParts;
  readonly #pauses: Pauses;
  readonly #unknownUrcs: UnknownUrcs;
  #profile: ModemProfile;
  #service: SimService | undefined;
  #fullLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.channel = parts.channel;
    this.#unknownUrcs = new UnknownUrcs(parts.log);
    this.#profile = findProfile([], parts.usbId);
    this.ussd = new Ussd({ ...parts, isPacked: () => this.#profile.hasPackedUssd === true });
    this.#pauses = new Pauses(parts.clock, parts.onTurn);
    this.channel.onClose((reason) => this.#pauses.end(reason));
    this.channel.onUrc(({ line }) => this.#onUrc(line));
  }

  /** The outbox; `undefined` until the SIM is in service. */
  get outbox(): SmsOutbox | undefined {
    return this.#service?.outbox;
  }

  /** The inbox; `undefined` until the SIM is in service. */
  get inbox(): SmsInbox | undefined {
    return this.#service?.inbox;
  }

  /** The telephone; `undefined` until the SIM is in service. */
  get telephone(): Telephone | undefined {
    return this.#service?.telephone;
  }

  /** Runs work that may change settings of the modem; as `changeFromOutside`. */
  changing<T>(work: () => Promise<T>): Promise<T> {
    const service = this.#service;
    const outbox = service?.outbox;
    const setUp = service && outbox && (() => service.setUpAgain());
    return changeFromOutside({ ...this.#parts, outbox, setUp }, work);
  }

  /** Call it when the values of SIM cards have changed. A locked card gets its new PIN at once. */
  simsChanged(): void {
    if (this.#service === undefined) this.#pauses.pollNow();
    else this.#service.simsChanged();
  }

  /** Call it when another modem has a card with the same ICCID. Reads the card again soon. */
  checkSim(): void {
    this.#pauses.pollNow();
  }

  /** Serves the modem until its port is gone or it must be set up again. Always rejects with `SessionEndedError`. */
  async run(): Promise<never> {
    const { log, report, telephony } = this.#parts;
    const pause = (delayMs: number): Promise<void> => this.#pauses.pause(delayMs);
    try {
      await this.channel.wake(WAKE_ATTEMPTS, WAKE_TIMEOUT_MS);
      report({ ...UNKNOWN_SERVICE, state: 'starting', reason: null });
      if (telephony !== undefined) await this.#endLeftCalls();
      const modem = await this.#identify();
      await optional(log, setFullFunctionality(this.channel, pause));
      const sim = await awaitSim({ ...this.#parts, ...modem, pause });
      this.#service = new SimService({ ...this.#parts, ...modem, sim, pauses: this.#pauses });
      return await this.#service.run();
    } catch (error) {
      throw endOf(error);
    } finally {
      this.#service?.stop();
      this.#parts.claims.leave();
    }
  }

  /** Before all else: the set-up takes seconds, and a call of an earlier process bills meanwhile. */
  async #endLeftCalls(): Promise<void> {
    const { clock, log } = this.#parts;
    await ask(this.channel, atCommand('ATE0'));
    await optional(log, endLeftCalls(this.channel, clock, log));
  }

  async #identify(): Promise<{ readonly profile: ModemProfile; readonly imei: string | undefined }> {
    const { claims, log, report, usbId } = this.#parts;
    const { firmware, imei, model, profile } = await identify(this.channel, usbId);
    this.#profile = profile;
    report({ device_id: imei ?? null, model: model ?? null });
    const isTaken = imei !== undefined && !claims.takeImei(imei);
    if (isTaken) log.warn({ imei }, 'another modem has this IMEI: this one is served as a modem without one');
    log.info({ profile: profile.name, model, firmware }, 'modem opened');
    return { profile, imei: isTaken ? undefined : imei };
  }

  #onUrc(line: string): void {
    if (this.ussd.onUrc(line)) return;
    const { doubtful, restarted, simChanged, storeFull } = this.#profile.urcs;
    if (restarted.test(line)) {
      void this.channel.close(new SessionEndedError('restarted', `the modem restarted: ${line}`));
    } else if (simChanged.test(line) || doubtful?.test(line) === true) {
      this.#pauses.pollNow();
    } else if (storeFull.test(line)) this.#onStoreFull(line);
    else if (this.#service?.onUrc(line) !== true) this.#unknownUrcs.note(line, this.#profile);
  }

  /** Starts a sweep, which empties the storage. Under steady traffic a modem reports a full storage with every message. */
  #onStoreFull(line: string): void {
    const { clock, log } = this.#parts;
    const now = clock.now();
    if (now - this.#fullLoggedAt >= FULL_STORE_LOG_MS) {
      this.#fullLoggedAt = now;
      log.warn({ urc: line.slice(0, 32) }, 'a message storage is full');
    }
    this.inbox?.startSweep();
  }
}
