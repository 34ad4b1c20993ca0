// One life of an opened modem: identify → set up → SIM → SMS → register → serve, until its port is gone.
import type { Clock } from '#shared/clock.ts';
import { imeiSchema, type Slot } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { AtError, AtTimeoutError, PortClosedError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { type AtCommand, atCommand, atQuery, quoted } from '../at/command.ts';
import type { Journal } from '../journal/journal.ts';
import {
  operatorOf,
  parseRegistration,
  REGISTRATION_ANSWER,
  REGISTRATION_DOMAINS,
  type Registration,
  signalOf,
  slotStateOf,
} from './network.ts';
import { findProfile } from './profiles/find-profile.ts';
import type { ModemProfile, UsbId } from './profiles/profile.ts';
import { readIccid, readImsi, readOwnNumber, readSimState } from './sim-card.ts';
import type { SimSettings } from './sim-settings.ts';
import { SmsInbox } from './sms-inbox.ts';
import { SmsOutbox } from './sms-outbox.ts';
import { parseStorages, type Storages } from './sms-storage.ts';
import { SessionEndedError, type Trouble } from './trouble.ts';

/** A modem that just got power answers only after some seconds. */
const WAKE_ATTEMPTS = 5;
const WAKE_TIMEOUT_MS = 1_000;
/** Signs of life, signal, and messages whose announcement was lost. */
export const POLL_MS = 30_000;
/** While there is no SIM to use; modems that announce one are quicker. */
const SIM_POLL_MS = 5_000;
/** SMS commands can fail for seconds after the SIM is ready (+CMS ERROR: 314). */
const SMS_SET_UP_ATTEMPTS = 20;
const SMS_SET_UP_PAUSE_MS = 1_000;
/** No echo, result codes as words, errors as numbers. */
const BASIC_SETTINGS = ['ATE0', 'ATV1', 'AT+CMEE=1'];
/** Stored and announced; reports directly. Then what older firmware takes (3GPP TS 27.005 §3.4.1). */
const INDICATIONS = ['2,1,0,1,0', '2,1,0,2,0', '1,1,0,1,0', '2,1,0,0,0', '2,1'];

/** What a session tells of its slot. */
export type SlotReport = Partial<Omit<Slot, 'slot'>>;

/** What a session works on. */
export interface SessionParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** What is configured for SIM cards. */
  readonly sims: SimSettings;
  /** Where the port is one of a USB device. */
  readonly usbId?: UsbId;
  readonly report: (report: SlotReport) => void;
}

/** The steps from an opened channel to a slot in service, and the service. */
export class ModemSession {
  readonly #parts: SessionParts;
  readonly #channel: AtChannel;
  #ended: Error | undefined;
  #profile: ModemProfile;
  #registration: Registration = {};
  #serving = false;
  #announces = false;
  #lookNow = false;
  #wakeUp: (() => void) | undefined;
  #outbox: SmsOutbox | undefined;
  #inbox: SmsInbox | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#channel = parts.channel;
    this.#profile = findProfile([], parts.usbId);
    this.#channel.onClose((reason) => {
      this.#ended = reason;
      this.#wakeUp?.();
    });
    this.#channel.onUrc(({ line }) => this.#onUrc(line));
  }

  /** Where to send messages; `undefined` until the SIM is in service. */
  get outbox(): SmsOutbox | undefined {
    return this.#outbox;
  }

  /** Serves until the port is gone or the modem must be set up anew. Always rejects with `SessionEndedError`. */
  async run(): Promise<never> {
    try {
      return await this.#serve();
    } catch (error) {
      throw endOf(error);
    }
  }

  async #serve(): Promise<never> {
    try {
      await this.#channel.wake(WAKE_ATTEMPTS, WAKE_TIMEOUT_MS);
      this.#parts.report({ state: 'starting', signal_dbm: null, operator: null });
      await this.#identify();
      const sim = await this.#awaitSim();
      for (const command of this.#profile.setUp) await this.#try(atCommand(command));
      const storages = await this.#setUpMessages();
      this.#startMessages(sim.iccid, storages);
      this.#serving = true;
      for (;;) {
        await this.#poll(sim);
        await this.#inbox?.sweep();
        await this.#pause(POLL_MS);
      }
    } finally {
      this.#inbox?.stop();
      this.#outbox?.close();
    }
  }

  async #identify(): Promise<void> {
    for (const command of BASIC_SETTINGS) await this.#try(atCommand(command));
    const identification = await this.#try(atCommand('ATI', { answer: /./ }));
    this.#profile = findProfile(identification, this.#parts.usbId);
    const [serial] = await this.#try(atCommand('AT+CGSN', { answer: /^(?:\+CGSN: ?)?"?\d{14,16}"?$/ }));
    const imei = imeiSchema.safeParse(/\d{14,16}/.exec(serial ?? '')?.[0]);
    this.#parts.report({ device_id: imei.success ? imei.data : null });
    this.#parts.log.info({ profile: this.#profile.name }, 'modem opened');
  }

  async #awaitSim(): Promise<{ iccid: string; command: string }> {
    for (;;) {
      const state = await readSimState(this.#channel);
      if (state === 'absent') this.#parts.report({ state: 'sim_absent', iccid: null, number: null });
      else if (state === 'locked') this.#parts.report({ state: 'sim_locked', number: null });
      if (state === 'ready' || state === 'locked') {
        const sim = await readIccid(this.#channel, this.#profile.iccidCommands);
        if (sim !== undefined) this.#parts.report({ iccid: sim.iccid });
        if (sim !== undefined && state === 'ready') {
          await this.#describe(sim.iccid);
          return sim;
        }
      }
      await this.#pause(state === 'busy' ? SMS_SET_UP_PAUSE_MS : SIM_POLL_MS);
    }
  }

  async #describe(iccid: string): Promise<void> {
    const imsi = await readImsi(this.#channel);
    const number = await readOwnNumber(this.#channel);
    this.#parts.report({ state: 'searching', number: number ?? null });
    // The first five or six digits tell the home network; the others are the subscriber's.
    this.#parts.log.info({ iccid, home: imsi?.slice(0, 6) }, 'SIM ready');
  }

  async #setUpMessages(): Promise<Storages> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#channel.send(atCommand('AT+CMGF=0'));
        const [answer] = await this.#channel.send(atQuery('AT+CPMS=?', '+CPMS:'));
        const storages = parseStorages(answer?.line ?? '');
        await this.#chooseReceiving(storages);
        await this.#chooseIndications();
        return storages;
      } catch (error) {
        if (isUnanswered(error) || attempt === SMS_SET_UP_ATTEMPTS) throw error;
      }
      await this.#pause(SMS_SET_UP_PAUSE_MS);
    }
  }

  /** Some firmware has a storage of no places, and some takes only the first argument. */
  async #chooseReceiving({ receiving }: Storages): Promise<void> {
    for (const storage of receiving) {
      const name = quoted(storage);
      const [line = ''] = await this.#try(
        atCommand(`AT+CPMS=${name},${name},${name}`, { answer: /^\+CPMS:/ }),
      );
      const total = /^\+CPMS: ?\d+,(\d+)/.exec(line)?.[1];
      if (total !== undefined && Number(total) > 0) return;
    }
    throw new AtError('no storage for arriving messages');
  }

  async #chooseIndications(): Promise<void> {
    for (const indications of INDICATIONS) {
      try {
        await this.#channel.send(atCommand(`AT+CNMI=${indications}`));
        this.#announces = true;
        return;
      } catch (error) {
        if (isUnanswered(error)) throw error;
      }
    }
    this.#parts.log.warn({}, 'the modem announces no messages: they are found by sweeps only');
  }

  #startMessages(iccid: string, { readable }: Storages): void {
    const { channel, clock, journal, log } = this.#parts;
    const isRegistered = (): boolean => slotStateOf(this.#registration) === 'registered';
    const outbox = new SmsOutbox({ channel, clock, journal, log, isRegistered });
    this.#outbox = outbox;
    const sendingDone = (): Promise<void> => outbox.sendingDone();
    this.#inbox = new SmsInbox({ iccid, channel, clock, journal, log, storages: readable, sendingDone });
  }

  async #poll(sim: { iccid: string; command: string }): Promise<void> {
    const registration: Registration = {};
    for (const domain of REGISTRATION_DOMAINS) {
      const [line = ''] = await this.#try(
        atCommand(`AT+${domain}?`, { answer: REGISTRATION_ANSWER, answerRequired: true }),
      );
      Object.assign(registration, parseRegistration(line));
    }
    const [signal = ''] = await this.#try(atQuery('AT+CSQ', '+CSQ:'));
    const [operator = ''] = await this.#try(atQuery('AT+COPS?', '+COPS:'));
    this.#registration = registration;
    this.#parts.report({
      state: slotStateOf(registration),
      signal_dbm: signalOf(signal),
      operator: operatorOf(operator),
    });
    await this.#checkUnchanged(sim);
  }

  /** A reset or another SIM may have come without a word. */
  async #checkUnchanged(sim: { iccid: string; command: string }): Promise<void> {
    const state = await readSimState(this.#channel);
    if (state !== 'ready') throw new SessionEndedError('sim_changed', `the SIM is ${state}`);
    const now = await readIccid(this.#channel, [sim.command]);
    if (now?.iccid !== sim.iccid) throw new SessionEndedError('sim_changed', 'the SIM is another one');
    const [format = ''] = await this.#try(atQuery('AT+CMGF?', '+CMGF:'));
    const [indications = ''] = await this.#try(atQuery('AT+CNMI?', '+CNMI:'));
    const isSilent = this.#announces && /^\+CNMI: ?\d,0/.test(indications);
    const isReset = /^\+CMGF: ?1/.test(format) || isSilent;
    if (isReset) throw new SessionEndedError('restarted', 'the modem has lost its settings');
  }

  #onUrc(line: string): void {
    const registration = parseRegistration(line);
    if (registration !== undefined) {
      Object.assign(this.#registration, registration);
      if (this.#serving) this.#parts.report({ state: slotStateOf(this.#registration) });
    } else if (this.#profile.urcs.restarted.test(line)) {
      this.#end(new SessionEndedError('restarted', `the modem restarted: ${line}`));
    } else if (this.#profile.urcs.simChanged.test(line)) {
      // The waiting ends and whoever waited looks: for a SIM, or whether it is still the same one.
      this.#lookNow = true;
      this.#wakeUp?.();
    }
  }

  #end(reason: Error): void {
    void this.#channel.close(reason);
  }

  /** Waits, unless the SIM's state changes before. Rejects when the session is over. */
  async #pause(delayMs: number): Promise<void> {
    if (this.#ended === undefined && !this.#lookNow) {
      await new Promise<void>((resolve) => {
        const timer = this.#parts.clock.after(delayMs, resolve);
        this.#wakeUp = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    this.#lookNow = false;
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** The lines of an answer; none when the modem answers with an error. */
  async #try(command: AtCommand): Promise<string[]> {
    try {
      return (await this.#channel.send(command)).map(({ line }) => line);
    } catch (error) {
      if (isUnanswered(error)) throw error;
      return [];
    }
  }
}

/** What ended the session, as the recovery wants to know it. */
function endOf(error: unknown): SessionEndedError {
  const cause = error instanceof PortClosedError ? (error.cause ?? error) : error;
  if (cause instanceof SessionEndedError) return cause;
  return new SessionEndedError(troubleOf(error, cause), messageOf(cause), cause);
}

function troubleOf(error: unknown, cause: unknown): Trouble {
  if (cause instanceof AtTimeoutError) return 'silent';
  return error instanceof PortClosedError ? 'port_gone' : 'faulty';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isUnanswered(error: unknown): boolean {
  return !(error instanceof AtError) || error instanceof AtTimeoutError || error instanceof PortClosedError;
}
