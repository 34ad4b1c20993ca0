// One session with an opened modem: identify → SIM → set up → serve, until it must be opened or set up again.
import { type Clock, sleep, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import { AtTimeoutError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import type { CarrierSettings, SimSettings } from '../config/node-config.ts';
import type { Journal } from '../journal/journal.ts';
import { findProfile } from '../profiles/find-profile.ts';
import type { ModemProfile } from '../profiles/profile.ts';
import { type SlotReport, UNKNOWN_SERVICE } from '../slot/slot-record.ts';
import type { UsbId } from '../usb/usb-device.ts';
import { endLeftCalls, listCalls } from '../voice/call-list.ts';
import { Telephone, type Telephony } from '../voice/telephone.ts';
import { applyVoiceSettings, recordRestart, type VoiceSettingsResult } from './carrier/voice-settings.ts';
import { setFullFunctionality } from './full-functionality.ts';
import { identify } from './identity.ts';
import { NetworkWatch } from './network/network-watch.ts';
import { Ussd } from './network/ussd.ts';
import { changeFromOutside } from './outside-change.ts';
import { Pauses, POLL_MS } from './pauses.ts';
import { endOf, SessionEndedError } from './recovery/trouble.ts';
import { readImsi, readOwnNumber, readSimState } from './sim/sim-card.ts';
import { type Sim, SimGuard } from './sim/sim-guard.ts';
import { awaitSim } from './sim/sim-wait.ts';
import {
  haveChanged,
  improveIndications,
  type MessageSettings,
  type MessageSetUp,
  readSettings,
  setUpMessages,
} from './sms/message-set-up.ts';
import { SmsInbox } from './sms/sms-inbox.ts';
import { SmsOutbox } from './sms/sms-outbox.ts';
import { StorageAccess } from './sms/storage-access.ts';
import { UnknownUrcs } from './unknown-urcs.ts';

/** A modem answers only some seconds after it gets power. */
const WAKE_ATTEMPTS = 5;
const WAKE_TIMEOUT_MS = 1_000;
/** Interval of polls after a missing answer. After `MISSES_MAX` missing answers in a row, the modem counts as silent. */
const MISSED_POLL_MS = 5_000;
const MISSES_MAX = 3;
/** Longer than the first registration (90 s, Quectel's advice) and than a search of all bands. */
export const NO_SERVICE_MAX_MS = 120_000;
/** A lost network comes back within seconds, or the modem cannot find it again. */
const LOST_SERVICE_MAX_MS = 45_000;

/** A restart waits for the message that is being sent no longer than this; the next poll tries again. */
const SENDING_MAX_MS = 10_000;

/** URCs that need no log: messages, early registrations, and late ends of commands. */
const KNOWN_URC = /^(\+(CMTI|CMT|CDSI|CDS|CBM|C5?G?REG|CEREG|CMGS|CSQ):|OK$|ERROR$|AT)/;
const FULL_STORE_LOG_MS = 60_000;

/** The parts that a session uses. */
export interface SessionParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** The configuration of SIM cards. */
  readonly sims: SimSettings;
  readonly carriers: CarrierSettings;
  /** Whether settings in the modem's flash memory may be changed. */
  readonly mayWriteSettings: boolean;
  /** The ids of the modem's USB device, if it is one. */
  readonly usbId?: UsbId;
  readonly report: (report: SlotReport) => void;
  /** The parts for calls. Absent if there are no calls. */
  readonly telephony?: Telephony;
  /** Called before each pause, to show that the session does not hang. */
  readonly onTurn?: () => void;
}

/** The steps from an opened channel to a slot in service, and the service. */
export class ModemSession {
  readonly #parts: SessionParts;
  readonly #channel: AtChannel;
  readonly #pauses: Pauses;
  #profile: ModemProfile;
  #imei: string | undefined;
  #network: NetworkWatch | undefined;
  #outbox: SmsOutbox | undefined;
  #inbox: SmsInbox | undefined;
  #telephone: Telephone | undefined;
  /** Repeats the settings of `#serve`. */
  #setUpAgain: (() => Promise<void>) | undefined;
  readonly #ussd: Ussd;
  /** The card in service, and the number that it contains. */
  #card: { readonly iccid: string; readonly ownNumber: string | undefined } | undefined;
  readonly #unknownUrcs: UnknownUrcs;
  #fullLoggedAt = Number.NEGATIVE_INFINITY;
  /** The next step for the settings for calls. */
  #settingsNext: VoiceSettingsResult['next'] = 'done';

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#channel = parts.channel;
    this.#unknownUrcs = new UnknownUrcs(parts.log);
    this.#profile = findProfile([], parts.usbId);
    this.#ussd = new Ussd({ ...parts, isPacked: () => this.#profile.hasPackedUssd === true });
    this.#pauses = new Pauses(parts.clock, parts.onTurn);
    this.#channel.onClose((reason) => this.#pauses.end(reason));
    this.#channel.onUrc(({ line }) => this.#onUrc(line));
  }

  /** The outbox; `undefined` until the SIM is in service. */
  get outbox(): SmsOutbox | undefined {
    return this.#outbox;
  }

  /** The inbox; `undefined` until the SIM is in service. */
  get inbox(): SmsInbox | undefined {
    return this.#inbox;
  }

  get ussd(): Ussd {
    return this.#ussd;
  }

  /** For an operator's USSD requests. */
  get channel(): AtChannel {
    return this.#channel;
  }

  /** The telephone; `undefined` until the SIM is in service. */
  get telephone(): Telephone | undefined {
    return this.#telephone;
  }

  /** Runs work that may change settings of the modem; as `changeFromOutside`. */
  changing<T>(work: () => Promise<T>): Promise<T> {
    return changeFromOutside({ ...this.#parts, outbox: this.#outbox, setUp: this.#setUpAgain }, work);
  }

  /** Call it when the values of SIM cards have changed. A locked card gets its new PIN at once. */
  simsChanged(): void {
    const { report, sims } = this.#parts;
    if (this.#card === undefined) {
      this.#pauses.pollNow();
      return;
    }
    const { iccid, ownNumber } = this.#card;
    report({ number: sims.numberOf(iccid) ?? ownNumber ?? null });
  }

  /** Serves the modem until its port is gone or it must be set up again. Always rejects with `SessionEndedError`. */
  async run(): Promise<never> {
    try {
      await this.#channel.wake(WAKE_ATTEMPTS, WAKE_TIMEOUT_MS);
      this.#parts.report({ ...UNKNOWN_SERVICE, state: 'starting', reason: null });
      if (this.#parts.telephony !== undefined) await this.#endLeftCalls();
      await this.#identify();
      const pause = (delayMs: number): Promise<void> => this.#pauses.pause(delayMs);
      await this.#optional(setFullFunctionality(this.#channel, pause));
      const sim = await awaitSim({ ...this.#parts, profile: this.#profile, imei: this.#imei, pause });
      return await this.#serve(sim);
    } catch (error) {
      throw endOf(error);
    } finally {
      this.#network?.stop();
      this.#inbox?.stop();
      this.#outbox?.close();
      this.#telephone?.close();
    }
  }

  /** Before all else: the set-up takes seconds, and a call of an earlier process bills meanwhile. */
  async #endLeftCalls(): Promise<void> {
    const { clock, log } = this.#parts;
    await ask(this.#channel, atCommand('ATE0'));
    await this.#optional(endLeftCalls(this.#channel, clock, log));
  }

  async #identify(): Promise<void> {
    const { log, report, usbId } = this.#parts;
    const { firmware, imei, model, profile } = await identify(this.#channel, usbId);
    this.#profile = profile;
    this.#imei = imei;
    report({ device_id: imei ?? null, model: model ?? null });
    log.info({ profile: profile.name, model, firmware }, 'modem opened');
  }

  /** Resolves with the IMSI, if the modem returns it. */
  async #describe({ iccid }: Sim): Promise<string | undefined> {
    const { log, report, sims } = this.#parts;
    const imsi = await readImsi(this.#channel);
    const ownNumber = await readOwnNumber(this.#channel);
    const configured = sims.numberOf(iccid);
    this.#card = { iccid, ownNumber };
    if (configured !== undefined && ownNumber !== undefined && configured !== ownNumber) {
      log.warn({ iccid }, 'the SIM reports another number than the configuration: using the configured one');
    }
    report({ state: 'searching', reason: null, iccid, number: configured ?? ownNumber ?? null });
    // The first five or six digits are the home network. The others identify the subscriber.
    log.info({ iccid, home: imsi?.slice(0, 6) }, 'SIM ready');
    return imsi;
  }

  async #serve(sim: Sim): Promise<never> {
    const { clock, log, report, telephony } = this.#parts;
    const parts = { channel: this.#channel, clock, log, profile: this.#profile };
    const guard = new SimGuard({ ...parts, sim });
    await this.#giveAll(this.#profile.setUp);
    const imsi = await this.#describe(sim);
    // Before calls and messages: a restart of the modem interrupts none of them then.
    await this.#optional(this.#applySettings(sim.iccid, imsi));
    const network = new NetworkWatch({ ...parts, report });
    await network.setUp();
    const pause = (delayMs: number): Promise<void> => this.#pauses.pause(delayMs);
    let setUp = await setUpMessages({ ...parts, pause });
    this.#network = network;
    await this.#startCalls(sim.iccid, network);
    this.#startMessages(sim.iccid, setUp, { guard, network });
    this.#setUpAgain = async () => {
      await this.#giveAll([
        ...this.#profile.setUp,
        ...(telephony === undefined ? [] : this.#profile.voice.setUp),
      ]);
      await network.setUp();
      await setUpMessages({ ...parts, pause: (delayMs) => sleep(clock, delayMs) });
      // A poll that finds a change ends the session.
      this.#pauses.pollNow();
    };
    for (let misses = 0; ; ) {
      try {
        await this.#poll(guard, network, setUp.settings);
        if (this.#settingsNext !== 'done' && this.#telephone?.isBusy !== true)
          await this.#applySettings(sim.iccid, imsi);
        setUp = await improveIndications(parts, setUp);
        misses = 0;
      } catch (error) {
        misses += 1;
        if (!(error instanceof AtTimeoutError) || misses >= MISSES_MAX) throw error;
        log.warn({ err: error }, 'the modem did not answer a query');
      }
      await this.#pauses.pause(misses === 0 ? POLL_MS : MISSED_POLL_MS);
    }
  }

  /** Settings for calls on the network of the card. Does what waits for the end of a call. */
  async #applySettings(iccid: string, imsi: string | undefined): Promise<void> {
    if (this.#settingsNext !== 'restart') {
      const { carriers, clock, journal, log, mayWriteSettings: mayWrite, report } = this.#parts;
      const parts = { carriers, clock, journal, log, mayWrite, iccid, imsi };
      const modem = { channel: this.#channel, profile: this.#profile, device: this.#imei };
      const result = await applyVoiceSettings({ ...parts, ...modem });
      this.#settingsNext = result.next;
      report({ voice_settings: result.report });
    }
    if (this.#settingsNext === 'restart') await this.#restartUnlessBusy();
  }

  /** Restarts the modem between two messages, and never during a call: the next poll tries again. */
  async #restartUnlessBusy(): Promise<void> {
    const outbox = this.#outbox;
    const release = outbox?.hold() ?? (() => undefined);
    try {
      const sent = outbox?.sendingDone() ?? Promise.resolve();
      await withTimeout(this.#parts.clock, sent, SENDING_MAX_MS, () => new Error('still sending'));
      const calls = await listCalls(this.#channel);
      if (calls.length > 0 || this.#telephone?.isBusy === true) return;
      const { clock, journal } = this.#parts;
      await recordRestart({ clock, journal, device: this.#imei });
      await this.#restart('settings for calls on the network of the card were changed');
    } catch (error) {
      if (!(error instanceof AtTimeoutError))
        this.#parts.log.warn({ err: error }, 'the modem is not restarted yet');
    } finally {
      release();
    }
  }

  async #giveAll(lines: readonly string[]): Promise<void> {
    for (const line of lines) await this.#optional(ask(this.#channel, atCommand(line)));
  }

  /** Makes support different commands, so no line is required, and an unanswered one costs only its time. */
  async #optional(step: Promise<unknown>): Promise<void> {
    try {
      await step;
    } catch (error) {
      if (!(error instanceof AtTimeoutError)) throw error;
      this.#parts.log.warn({ err: error }, 'the modem did not answer a set-up command');
    }
  }

  async #poll(guard: SimGuard, network: NetworkWatch, settings: MessageSettings): Promise<void> {
    const noServiceMaxMs = network.hasServed ? LOST_SERVICE_MAX_MS : NO_SERVICE_MAX_MS;
    await network.poll();
    await this.#checkUnchanged(guard, settings);
    await this.#inbox?.sweep();
    if (network.withoutServiceMs >= noServiceMaxMs) {
      throw new SessionEndedError('no_service', `no network for ${noServiceMaxMs} ms`);
    }
  }

  #startMessages(
    iccid: string,
    { storages, storageForm }: MessageSetUp,
    { guard, network }: { guard: SimGuard; network: NetworkWatch },
  ): void {
    const { channel, clock, journal, log, report } = this.#parts;
    const parts = { channel, clock, journal, log, confirmSim: () => guard.confirm() };
    const outbox = new SmsOutbox({ ...parts, isRegistered: () => network.isRegistered });
    this.#outbox = outbox;
    const sendingDone = (): Promise<void> => outbox.sendingDone();
    const access = new StorageAccess(channel, storageForm, (storage) => report({ storage }));
    const device = this.#imei;
    const sweeps = { storages: storages.readable, onSwept: (at: string) => report({ swept_at: at }) };
    this.#inbox = new SmsInbox({ ...parts, ...sweeps, iccid, device, access, sendingDone });
  }

  async #startCalls(iccid: string, network: NetworkWatch): Promise<void> {
    const { channel, clock, log, telephony } = this.#parts;
    if (telephony === undefined) return;
    const { voice } = this.#profile;
    await this.#giveAll(voice.setUp);
    const telephone = new Telephone({
      ...telephony,
      iccid,
      channel,
      clock,
      log,
      voice,
      access: telephony.audioAccess(voice),
      isRegistered: () => network.isRegistered,
      onAudioDegraded: () => void this.#restart('call audio stopped working'),
    });
    await this.#optional(telephone.clear());
    this.#telephone = telephone;
  }

  async #restart(why: string): Promise<void> {
    await ask(this.#channel, atCommand(this.#profile.restartCommand)).catch(() => undefined);
    this.#end(new SessionEndedError('restarted', why));
  }

  /** Detects a reset or another SIM that the modem did not report. */
  async #checkUnchanged(guard: SimGuard, settings: MessageSettings): Promise<void> {
    const state = await readSimState(this.#channel, 'background');
    if (state.kind !== 'ready') throw new SessionEndedError('sim_changed', `the SIM is ${state.kind}`);
    await guard.confirmNow();
    if (haveChanged(settings, await readSettings(this.#channel))) {
      throw new SessionEndedError('restarted', 'the modem lost its settings');
    }
  }

  #onUrc(line: string): void {
    if (this.#ussd.onUrc(line)) return;
    const { doubtful, ignorable, restarted, simChanged, storeFull } = this.#profile.urcs;
    if (restarted.test(line)) this.#end(new SessionEndedError('restarted', `the modem restarted: ${line}`));
    else if (simChanged.test(line) || doubtful?.test(line) === true) {
      this.#pauses.pollNow();
    } else if (storeFull.test(line)) this.#onStoreFull(line);
    else if (this.#network?.onUrc(line) !== true && !this.#isKnown(line, ignorable))
      this.#unknownUrcs.note(line);
  }

  #isKnown(line: string, ignorable: RegExp): boolean {
    return KNOWN_URC.test(line) || ignorable.test(line) || this.#profile.voice.event(line) !== undefined;
  }

  /** Starts a sweep, which empties the storage. Under steady traffic a modem reports a full storage with every message. */
  #onStoreFull(line: string): void {
    const now = this.#parts.clock.now();
    if (now - this.#fullLoggedAt >= FULL_STORE_LOG_MS) {
      this.#fullLoggedAt = now;
      this.#parts.log.warn({ urc: line.slice(0, 32) }, 'a message storage is full');
    }
    this.#inbox?.sweep().catch((error) => this.#parts.log.warn({ err: error }, 'message sweep failed'));
  }

  #end(reason: SessionEndedError): void {
    void this.#channel.close(reason);
  }
}
