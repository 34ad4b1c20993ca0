// The service of one SIM: sets the modem up for it, then carries its messages and calls, and checks with each poll that all is as before.
import { type Clock, sleep } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import { ask } from '../at/ask.ts';
import { AtTimeoutError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import type { CarrierSettings, SimSettings } from '../config/node-config.ts';
import type { Journal } from '../journal/journal.ts';
import type { ModemShares } from '../journal/share.ts';
import type { ModemProfile } from '../profiles/profile.ts';
import type { SlotReport } from '../slot/slot-record.ts';
import { Telephone, type Telephony } from '../voice/telephone.ts';
import { CardSettings } from './carrier/card-settings.ts';
import { restartWhenIdle } from './carrier/idle-restart.ts';
import { NetworkWatch } from './network/network-watch.ts';
import { type Pauses, POLL_MS } from './pauses.ts';
import { SessionEndedError } from './recovery/trouble.ts';
import { giveAll, optional } from './set-up-commands.ts';
import { readImsi, readOwnNumber, readSimState } from './sim/sim-card.ts';
import { type Sim, SimGuard } from './sim/sim-guard.ts';
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
import { StorageAccess } from './sms/storage/storage-access.ts';

/** Interval of polls after a missing answer. After `MISSES_MAX` missing answers in a row, the modem counts as silent. */
const MISSED_POLL_MS = 5_000;
const MISSES_MAX = 3;
/** Longer than the first registration (90 s, Quectel's advice) and than a search of all bands. */
export const NO_SERVICE_MAX_MS = 120_000;
/** A lost network comes back within seconds, or the modem cannot find it again. */
const LOST_SERVICE_MAX_MS = 45_000;

/** The parts that come from outside the session. */
export interface ServiceParts {
  readonly channel: AtChannel;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The configuration of SIM cards. */
  readonly sims: SimSettings;
  readonly carriers: CarrierSettings;
  /** Whether settings in the modem's flash memory may be changed. */
  readonly mayWriteSettings: boolean;
  readonly report: (report: SlotReport) => void;
  readonly shares: ModemShares;
  /** The parts for calls. Absent if there are no calls. */
  readonly telephony?: Telephony;
}

/** The modem and its card, as the session found them. */
interface SimServiceParts extends ServiceParts {
  readonly profile: ModemProfile;
  readonly imei: string | undefined;
  readonly sim: Sim;
  readonly pauses: Pauses;
}

/** The card in service, and the number that it contains. */
interface Card {
  readonly iccid: string;
  readonly ownNumber: string | undefined;
  /** Absent if the modem does not return it. */
  readonly imsi: string | undefined;
}

/** The service of one SIM in one session. */
export class SimService {
  readonly #parts: SimServiceParts;
  readonly #guard: SimGuard;
  #card: Card | undefined;
  #network: NetworkWatch | undefined;
  #telephone: Telephone | undefined;
  #outbox: SmsOutbox | undefined;
  #inbox: SmsInbox | undefined;
  #isAudioDegraded = false;

  /** Call it just after the card was read. */
  constructor(parts: SimServiceParts) {
    this.#parts = parts;
    this.#guard = new SimGuard(parts);
  }

  /** The telephone; `undefined` until the set-up for calls is done, and if there are no calls. */
  get telephone(): Telephone | undefined {
    return this.#telephone;
  }

  /** The outbox; `undefined` until the set-up is done. */
  get outbox(): SmsOutbox | undefined {
    return this.#outbox;
  }

  /** The inbox; `undefined` until the set-up is done. */
  get inbox(): SmsInbox | undefined {
    return this.#inbox;
  }

  /** Serves the SIM until the modem must be opened or set up again. Always rejects. */
  async run(): Promise<never> {
    const { imei: device, log, mayWriteSettings: mayWrite, pauses, profile } = this.#parts;
    await giveAll(this.#parts, profile.setUp);
    const { iccid, imsi } = await this.#readCard();
    const restart = (why: string): Promise<void> => this.#restart(why);
    const settings = new CardSettings({ ...this.#parts, mayWrite, device, iccid, imsi, restart });
    // Before calls and messages: a restart of the modem interrupts none of them then.
    await optional(log, settings.apply(this));
    const network = new NetworkWatch(this.#parts);
    await network.setUp();
    const setUp = await setUpMessages({ ...this.#parts, pause: (delayMs) => pauses.pause(delayMs) });
    this.#network = network;
    await this.#startCalls(network);
    this.#startMessages(setUp, network);
    return await this.#pollAll(network, settings, setUp);
  }

  /** Stops the traffic. Call it when `run` has rejected. */
  stop(): void {
    this.#network?.stop();
    this.#inbox?.stop();
    this.#outbox?.close();
    this.#telephone?.close();
  }

  /** Handles a line. Returns false if it does not concern the network. */
  onUrc(line: string): boolean {
    return this.#network?.onUrc(line) === true;
  }

  /** Call it when the values of SIM cards have changed. Reports the number of the card. */
  simsChanged(): void {
    if (this.#card !== undefined) this.#parts.report({ number: this.#numberOf(this.#card) });
    else this.#parts.pauses.pollNow();
  }

  /** Repeats all settings. Then a poll ends the session if they are other than before. Call it when the set-up is done. */
  async setUpAgain(): Promise<void> {
    const { clock, pauses, profile, telephony } = this.#parts;
    await giveAll(this.#parts, [...profile.setUp, ...(telephony === undefined ? [] : profile.voice.setUp)]);
    await this.#network?.setUp();
    await setUpMessages({ ...this.#parts, pause: (delayMs) => sleep(clock, delayMs) });
    pauses.pollNow();
  }

  async #readCard(): Promise<Card> {
    const { channel, log, report, sim, sims } = this.#parts;
    const { iccid } = sim;
    const imsi = await readImsi(channel);
    const ownNumber = await readOwnNumber(channel);
    const configured = sims.numberOf(iccid);
    const card = { iccid, ownNumber, imsi };
    this.#card = card;
    if (configured !== undefined && ownNumber !== undefined && configured !== ownNumber) {
      log.warn({ iccid }, 'the SIM reports another number than the configuration: using the configured one');
    }
    report({ state: 'searching', reason: null, iccid, number: this.#numberOf(card) });
    // The first five or six digits are the home network. The others identify the subscriber.
    log.info({ iccid, home: imsi?.slice(0, 6) }, 'SIM ready');
    return card;
  }

  #numberOf({ iccid, ownNumber }: Card): string | null {
    return this.#parts.sims.numberOf(iccid) ?? ownNumber ?? null;
  }

  async #startCalls(network: NetworkWatch): Promise<void> {
    const { channel, clock, log, pauses, profile, shares, sim, telephony } = this.#parts;
    if (telephony === undefined) return;
    const { voice } = profile;
    await giveAll(this.#parts, voice.setUp);
    const telephone = new Telephone({
      ...telephony,
      iccid: sim.iccid,
      channel,
      clock,
      log,
      voice,
      access: telephony.audioAccess(voice),
      isRegistered: () => network.isRegistered,
      takesCall: () => shares.calls.take(),
      onAudioDegraded: () => {
        this.#isAudioDegraded = true;
        pauses.pollNow();
      },
    });
    await optional(log, telephone.clear());
    this.#telephone = telephone;
  }

  #startMessages({ storages, storageForm }: MessageSetUp, network: NetworkWatch): void {
    const { channel, clock, imei: device, journal, log, random, report, shares, sim } = this.#parts;
    const parts = { channel, clock, journal, log, confirmSim: () => this.#guard.confirm() };
    const outbox = new SmsOutbox({ ...parts, random, isRegistered: () => network.isRegistered });
    this.#outbox = outbox;
    const sendingDone = (): Promise<void> => outbox.sendingDone();
    const access = new StorageAccess(channel, storageForm, (storage) => report({ storage }));
    const sweeps = { storages: storages.readable, onSwept: (at: string) => report({ swept_at: at }) };
    this.#inbox = new SmsInbox({
      ...parts,
      ...sweeps,
      iccid: sim.iccid,
      device,
      access,
      sendingDone,
      shares,
    });
  }

  /** Polls until the session ends. Always rejects. */
  async #pollAll(network: NetworkWatch, settings: CardSettings, first: MessageSetUp): Promise<never> {
    const { log, pauses } = this.#parts;
    let setUp = first;
    for (let misses = 0; ; ) {
      try {
        await this.#poll(network, setUp.settings);
        await settings.applyRest(this);
        if (this.#isAudioDegraded) await this.#restartForAudio();
        setUp = await improveIndications(this.#parts, setUp);
        misses = 0;
      } catch (error) {
        misses += 1;
        if (!(error instanceof AtTimeoutError) || misses >= MISSES_MAX) throw error;
        log.warn({ err: error }, 'the modem did not answer a query');
      }
      await pauses.pause(misses === 0 ? POLL_MS : MISSED_POLL_MS);
    }
  }

  async #poll(network: NetworkWatch, settings: MessageSettings): Promise<void> {
    const noServiceMaxMs = network.hasServed ? LOST_SERVICE_MAX_MS : NO_SERVICE_MAX_MS;
    await network.poll();
    await this.#checkUnchanged(settings);
    await this.#inbox?.sweep();
    if (network.withoutServiceMs >= noServiceMaxMs) {
      throw new SessionEndedError('no_service', `no network for ${noServiceMaxMs} ms`);
    }
  }

  /** Detects a reset or another SIM that the modem did not report. */
  async #checkUnchanged(settings: MessageSettings): Promise<void> {
    const { channel } = this.#parts;
    const state = await readSimState(channel, 'background');
    if (state.kind !== 'ready') throw new SessionEndedError('sim_changed', `the SIM is ${state.kind}`);
    await this.#guard.confirmNow();
    if (haveChanged(settings, await readSettings(channel))) {
      throw new SessionEndedError('restarted', 'the modem lost its settings');
    }
  }

  #restartForAudio(): Promise<void> {
    const restart = (): Promise<void> => this.#restart('call audio stopped working');
    return restartWhenIdle({ ...this.#parts, restart }, this);
  }

  async #restart(why: string): Promise<void> {
    const { channel, profile } = this.#parts;
    // A call that begins while the command waits for its turn would be cut off.
    this.#telephone?.close();
    await ask(channel, atCommand(profile.restartCommand)).catch(() => undefined);
    void channel.close(new SessionEndedError('restarted', why));
  }
}
