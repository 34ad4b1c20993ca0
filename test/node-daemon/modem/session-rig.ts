// A session over a scripted modem, with time that the test moves, or that runs as fast as the modem answers.

import type { Test } from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { DEFAULT_CARRIER_SETTINGS, NO_SIM_SETTINGS } from '#node-daemon/config/node-config.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { type OpenJournalDisk, openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { modemShares } from '#node-daemon/journal/share.ts';
import type { SessionEndedError } from '#node-daemon/modem/recovery/trouble.ts';
import { ModemSession, type SessionParts } from '#node-daemon/modem/session.ts';
import { HostClaims, ModemClaims } from '#node-daemon/modem/sim/claims.ts';
import type { SlotReport } from '#node-daemon/slot/slot-record.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { ScriptedModem, type ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

/** Between two steps of running time everything is answered that is answered at all. */
const STEP_MS = 500;

/** The disk of a journal, and whether it is at work: a slow one would let minutes of running time pass. */
class WatchedDisk {
  #running = 0;
  /** How many operations have ended. */
  ended = 0;

  get isIdle(): boolean {
    return this.#running === 0;
  }

  readonly open: OpenJournalDisk = async (path) => {
    const file = await this.#watch(openJournalDisk(path));
    return {
      write: (bytes, position) => this.#watch(file.write(bytes, position)),
      sync: () => this.#watch(file.sync()),
      truncate: (length) => this.#watch(file.truncate(length)),
      isAt: (place) => this.#watch(file.isAt(place)),
      close: () => this.#watch(file.close()),
    };
  };

  async #watch<T>(operation: Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await operation;
    } finally {
      this.#running -= 1;
      this.ended += 1;
    }
  }
}

export class SessionRig {
  readonly folder: string;
  readonly clock = new ManualClock(Date.parse('2026-11-21T08:00:00Z'));
  readonly device = new ScriptedModem();
  readonly slot: SlotReport = {};
  /** The reports of the slot, in order. */
  readonly reports: SlotReport[] = [];
  journal: Journal;
  channel: AtChannel | undefined;
  session: ModemSession | undefined;
  readonly #disk: WatchedDisk;
  #isRunning = false;

  private constructor(folder: string, journal: Journal, disk: WatchedDisk) {
    this.folder = folder;
    this.journal = journal;
    this.#disk = disk;
  }

  static async create(t: Test): Promise<SessionRig> {
    const folder = temporaryFolder(t);
    const disk = new WatchedDisk();
    const rig = new SessionRig(folder, await openJournal(folder, disk), disk);
    t.teardown(async () => {
      rig.stopTime();
      await rig.channel?.close(new Error('the test is over'));
      await rig.journal.close();
    });
    return rig;
  }

  /** One whose session is in service. `prepare` and `ended` are those of `run`. */
  static async startInService(t: Test, prepare?: (port: ScriptedPort) => void) {
    const rig = await SessionRig.create(t);
    const ended = rig.run(prepare);
    await rig.inService();
    return { rig, ended };
  }

  get port(): ScriptedPort {
    return this.device.port;
  }

  /** Opens the modem; `prepare` gets its fresh port. Resolves with what ended the session. */
  run(
    prepare: (port: ScriptedPort) => void = () => undefined,
    parts: Partial<SessionParts> = {},
  ): Promise<SessionEndedError> {
    prepare(this.device.plug());
    this.channel = new AtChannel(this.device.port, this.clock, silentLogger);
    this.session = new ModemSession({
      random: Math.random,
      channel: this.channel,
      journal: this.journal,
      clock: this.clock,
      log: silentLogger,
      sims: NO_SIM_SETTINGS,
      carriers: DEFAULT_CARRIER_SETTINGS,
      mayWriteSettings: true,
      claims: new ModemClaims(new HostClaims(this.clock), () => undefined),
      shares: modemShares({ journal: this.journal, clock: this.clock }),
      report: (report) => {
        this.reports.push(report);
        Object.assign(this.slot, report);
      },
      ...parts,
    });
    return this.session.run().then(
      () => Promise.reject(new Error('a session never ends well')),
      (error) => error,
    );
  }

  /** Ends the daemon without a word to the modem, and starts another on the same disk. */
  async restartDaemon(): Promise<void> {
    await this.channel?.close(new Error('killed'));
    await this.journal.close();
    this.journal = await openJournal(this.folder, this.#disk);
  }

  /** From now on time runs. */
  startTime(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const step = (): void => {
      if (!this.#isRunning) return;
      this.clock.advance(STEP_MS);
      void this.#settle().then(step);
    };
    void this.#settle().then(step);
  }

  stopTime(): void {
    this.#isRunning = false;
  }

  /** Moves time on, from one thing that is due to the next, so that every answer comes in its time. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; ) {
      await this.#settle();
      const stepMs = Math.min(left, this.clock.untilNextMs);
      this.clock.advance(stepMs);
      left -= stepMs;
    }
    await this.#settle();
  }

  /** Resolves when the slot is registered and nothing is asked any more. */
  async inService(): Promise<void> {
    this.startTime();
    await until('service', () => this.slot.state === 'registered');
    await until('the first sweep', () => this.port.count(/^AT\+CMGL=4$/) >= 2);
    this.stopTime();
    await this.#settle();
  }

  /** Lets everything happen that happens without time, and all that the disk has to do. */
  async #settle(): Promise<void> {
    for (let ended = -1; ended !== this.#disk.ended || !this.#disk.isIdle; ) {
      ended = this.#disk.ended;
      await runTasks();
    }
  }
}

/** Lets everything happen that happens without time. */
export async function runTasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function openJournal(folder: string, disk: WatchedDisk): Promise<Journal> {
  return Journal.open({ folder, clock: systemClock, log: silentLogger, openDisk: disk.open });
}
