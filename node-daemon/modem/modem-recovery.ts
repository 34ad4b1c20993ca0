// Recovers one modem after a session: restarts it for an operator, waits for its port, or takes the next step of the recovery ladder.
import { type Clock, sleep } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import type { Logger } from '#shared/log.ts';
import type { Random } from '#shared/random.ts';
import type { OpenPort } from '../at/port.ts';
import { findProfile } from '../profiles/find-profile.ts';
import type { DeviceHistory, ModemLocation } from '../slot/location.ts';
import type { Place } from '../slot/place.ts';
import type { SlotRecord } from '../slot/slot-record.ts';
import { limitsAt, type OutsideSteps } from './recovery/outside-steps.ts';
import {
  lost,
  NO_TROUBLE,
  nextRecovery,
  type RecoveryLimits,
  type RecoveryStep,
  restartRequested,
  starting,
  type TroubleSeen,
} from './recovery/recovery.ts';
import { takeStep } from './recovery/recovery-steps.ts';
import { sessionFailureOf, type Trouble } from './recovery/trouble.ts';

/** A modem that crashed is back on the bus within this time. After it, the daemon waits for it as for any missing modem. */
const CRASHED_MS = 30_000;

/** Checking for a missing device is cheap, and it may come back at any time. */
const ABSENT_RETRY_MS = 500;
/** Another program has the port open, or permissions are missing. The operator must act. */
const DENIED_RETRY_MS = 5_000;

/** As `failed_step` of a slot. */
const FAILURE_LENGTH_MAX = 200;

/** The parts that the recovery of one modem uses. */
interface ModemRecoveryParts {
  readonly openPort: OpenPort;
  readonly limits: RecoveryLimits;
  readonly outside: OutsideSteps;
  readonly location: ModemLocation;
  readonly devices: DeviceHistory;
  readonly record: SlotRecord;
  /** Resolves when the modem moves, after `timeoutMs`, or when the daemon stops. */
  readonly moves: (timeoutMs: number) => Promise<boolean>;
  /** Called when the modem is lost. */
  readonly onLoss: () => void;
  readonly onStep: (step: RecoveryStep, trouble: Trouble) => void;
  /** Called when the step could not be taken. */
  readonly onStepFailed: (step: RecoveryStep, why: string) => void;
  /** Aborted when the daemon stops. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The recovery of one modem, with its history. */
export class ModemRecovery {
  readonly #parts: ModemRecoveryParts;
  #state = NO_TROUBLE;
  /** The port on which the modem last identified itself. */
  #provenPort: string | undefined;
  /** Whether the session ends for a restart. */
  #isRestartRequested = false;

  constructor(parts: ModemRecoveryParts) {
    this.#parts = parts;
  }

  /** Whether all steps failed. */
  get gaveUp(): boolean {
    return this.#state.gaveUp;
  }

  /** Call it when the modem gets power. A slow answer is then no failure. */
  starting(): void {
    this.#state = starting(this.#state, this.#parts.clock.now());
  }

  /** Call it when the modem has identified itself on this port. */
  provePort(path: string): void {
    this.#provenPort = path;
  }

  /** Call it when a session begins. */
  sessionBegins(): void {
    this.#isRestartRequested = false;
    this.#parts.record.beginCounting();
  }

  /** Call it before the session is ended for an operator, who wants the modem to restart. */
  requestRestart(): void {
    this.#isRestartRequested = true;
  }

  /** Resolves when the next session may begin. `error` ended the last one, at `place`. */
  async afterSession(place: Place, error: unknown): Promise<void> {
    const { devices, onLoss } = this.#parts;
    if (this.#isRestartRequested) {
      this.#isRestartRequested = false;
      await this.#restart(place);
      return;
    }
    const failure = sessionFailureOf(error);
    if (devices.isUnidentified(place)) await this.#askAgain(failure, error);
    else if (failure === 'absent' || failure === 'denied') await this.#awaitPort(failure, error);
    else {
      onLoss();
      await this.#recover(place, failure, error);
    }
  }

  async #askAgain(failure: string, error: unknown): Promise<void> {
    const { devices, log, moves, record } = this.#parts;
    const waitMs = devices.askAgainMs();
    log.info({ err: error, waitMs }, 'the device did not identify itself as a modem: asking again later');
    record.reportLost(failure);
    await moves(waitMs);
  }

  async #awaitPort(failure: 'absent' | 'denied', error: unknown): Promise<void> {
    const { log, moves, record } = this.#parts;
    const { code, path } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' && path !== undefined ? `: ${path} does not exist` : '';
    if (record.slot.reason !== failure) log.warn({ err: error }, `failed to open the port${why}`);
    record.reportLost(failure);
    await moves(failure === 'absent' ? ABSENT_RETRY_MS : DENIED_RETRY_MS);
    if (failure === 'absent') this.starting();
  }

  async #restart(place: Place): Promise<void> {
    const { clock, log, onStep, record } = this.#parts;
    this.#state = restartRequested(this.#state, clock.now());
    log.warn({ step: 'restart' }, 'restarting the modem: an operator requested it');
    record.report({ state: 'starting' });
    onStep('restart', 'requested');
    await this.#take(place, 'restart');
  }

  /** Takes the next step for a lost modem that was at `place`. */
  async #recover(place: Place, trouble: Trouble, error: unknown): Promise<void> {
    const { clock, location, random, record } = this.#parts;
    const seen = { trouble, now: clock.now(), servedMs: record.answeredMs, random: random() };
    if (place === location.place) {
      await this.#climb(seen, error);
      return;
    }
    // If the whole device disconnected, it only has to come back, unless it disconnects again and again.
    const gone: TroubleSeen = { ...seen, trouble: 'port_gone' };
    const { state, isCrashing } = lost(this.#state, gone);
    this.#state = state;
    if (isCrashing) await this.#climb(gone, error);
  }

  /** Takes the next step of the ladder, at the current place of the device. */
  async #climb(seen: TroubleSeen, error: unknown): Promise<void> {
    const { limits, location, log, moves, onStep, outside, record, signal } = this.#parts;
    const { trouble } = seen;
    if ((location.place?.ports.length ?? 0) === 0) await moves(CRASHED_MS);
    const { place } = location;
    if (place === undefined || signal.aborted) return;
    const { step, delayMs, state } = nextRecovery(this.#state, limitsAt(place, outside, limits), seen);
    this.#state = state;
    const next = { err: error, trouble, step, delayMs: Math.round(delayMs) };
    // A card that is exchanged is no failure.
    if (trouble === 'sim_changed')
      log.info(next, 'modem session ended: its SIM was changed, or cannot be read');
    else log.warn(next, 'modem session failed');
    if (trouble === 'restarted' || trouble === 'sim_changed') record.report({ state: 'starting' });
    else record.reportLost(step === 'give_up' ? 'gave_up' : trouble);
    onStep(step, trouble);
    await moves(delayMs);
    await this.#take(place, step);
  }

  async #take(place: Place, step: RecoveryStep): Promise<void> {
    const { clock, log, onStepFailed, openPort, outside, record, signal } = this.#parts;
    const isStopping = (): boolean => signal.aborted;
    if (isStopping()) return;
    const profile = findProfile([record.slot.model ?? ''], place.usb?.id);
    try {
      const provenPort = this.#provenPort;
      const settleMs = await takeStep(step, { place, provenPort, profile, openPort, clock, outside, signal });
      if (step !== 'reopen' && step !== 'give_up') record.report({ failed_step: null });
      if (settleMs === 0) return;
      await sleep(clock, settleMs, signal).catch(() => undefined);
      this.starting();
    } catch (error) {
      log.warn({ err: error, step }, 'recovery step failed');
      // A stop ends a step early.
      if (isStopping()) return;
      const why = messageOf(error);
      record.report({ failed_step: `${step}: ${why}`.slice(0, FAILURE_LENGTH_MAX) });
      onStepFailed(step, why);
    }
  }
}
