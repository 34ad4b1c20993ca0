// The recovery ladder: chooses the next step for a lost modem. Pure.
//
//   reopen → reinitialise → radio → restart → usb_reset → power_cycle → give_up ──(long)──► reopen …
import { type BackOffLimits, backOffMs } from '#shared/back-off.ts';
import type { Trouble } from './trouble.ts';

/** Gentlest first. */
const RECOVERY_STEPS = [
  /** Close the port and open it again, or another AT port of the device if it is silent. */
  'reopen',
  /** Reset the modem's settings to those of its maker. */
  'reinitialise',
  /** Turn the radio off and on (AT+CFUN). */
  'radio',
  /** Restart the modem with the command of its make. */
  'restart',
  'usb_reset',
  'power_cycle',
  /** Only open the port now and then, and raise an alarm for the operator. */
  'give_up',
] as const;
export type RecoveryStep = (typeof RECOVERY_STEPS)[number];

/** Steps that have a limit. */
type LimitedStep = 'radio' | 'restart' | 'usb_reset' | 'power_cycle';

/** Maximum number of each step in an hour for one modem; 0 for an impossible step. */
export type RecoveryLimits = Readonly<Record<LimitedStep, number>>;

/** The steps that help against each failure. */
const HELPS: Record<Trouble, readonly (LimitedStep | 'reinitialise')[]> = {
  port_gone: ['usb_reset', 'power_cycle'],
  silent: ['radio', 'restart', 'usb_reset', 'power_cycle'],
  faulty: ['reinitialise', 'radio', 'restart', 'usb_reset', 'power_cycle'],
  no_service: ['radio', 'restart', 'usb_reset', 'power_cycle'],
  restarted: [],
  sim_changed: [],
  requested: ['restart'],
};
/** Number of times that the port is opened again before a stronger step. */
const REOPENS: Record<Trouble, number> = {
  port_gone: 5,
  silent: 1,
  faulty: 2,
  no_service: 0,
  restarted: Number.POSITIVE_INFINITY,
  sim_changed: Number.POSITIVE_INFINITY,
  requested: 0,
};
const REOPEN: BackOffLimits = { firstMinMs: 50, firstMaxMs: 250, capMs: 10_000 };
/** Least time between two equal steps. It doubles with each such step of the last hour. */
const GAP_MS: Record<LimitedStep, number> = {
  radio: 30_000,
  restart: 60_000,
  usb_reset: 120_000,
  power_cycle: 300_000,
};

const HOUR_MS = 60 * 60 * 1000;
/** After this time in service, the next recovery begins with the gentlest step. */
export const HEALTHY_MS = 60_000;
/** After this time in service, opening the modem again begins with short waits. */
const SERVED_MS = 5_000;
/** A modem answers only some seconds after it gets power. */
const BOOT_MS = 15_000;
const GIVE_UP_MS = 10 * 60_000;
const GIVE_UP_RETRY_MS = 60_000;
/** The longest wait. */
const PATIENCE_MAX_MS = GIVE_UP_MS;
/** A modem that loses its port this often in an hour, without a healthy time between, crashes again and again. */
const LOSSES_MAX = 5;

/** The failures and recovery steps of one modem. Times in ms since the Unix epoch. */
export interface RecoveryState {
  /** Position in `RECOVERY_STEPS` of the strongest step so far; -1 for none. */
  readonly rung: number;
  readonly reopens: number;
  /** Until this time the port is only opened again, because the modem starts or was given up. */
  readonly patientUntil: number;
  readonly gaveUp: boolean;
  /** The limited steps of the last hour. */
  readonly taken: readonly { readonly step: LimitedStep; readonly at: number }[];
  /** Times in the last hour at which its port disappeared, since the modem was healthy. */
  readonly losses: readonly number[];
}

/** The state of a modem without failures. */
export const NO_TROUBLE: RecoveryState = {
  rung: -1,
  reopens: 0,
  patientUntil: 0,
  gaveUp: false,
  taken: [],
  losses: [],
};

/** A failure and its facts. */
export interface TroubleSeen {
  readonly trouble: Trouble;
  /** Time of the failure, ms since the Unix epoch. */
  readonly now: number;
  /** Time for which the modem was in service before. */
  readonly servedMs: number;
  /** A random number from 0 to 1, for the waits. */
  readonly random: number;
}

/** The decision: wait, take the step, keep the state. */
interface Recovery {
  readonly step: RecoveryStep;
  readonly delayMs: number;
  readonly state: RecoveryState;
}

/** Chooses the next step. */
export function nextRecovery(before: RecoveryState, limits: RecoveryLimits, seen: TroubleSeen): Recovery {
  const { trouble, now, random } = seen;
  const state = afterService(before, seen);
  const reopen = (delayMs: number): Recovery => ({
    step: 'reopen',
    delayMs,
    state: { ...state, reopens: state.reopens + 1 },
  });
  const backOff = backOffMs(REOPEN, state.reopens, random);
  // A device that reconnects again and again is always starting, so waiting does not help it.
  const isCrashing = !state.gaveUp && trouble === 'port_gone' && state.losses.length >= LOSSES_MAX;
  if (now < state.patientUntil && !isCrashing) {
    // Without a network, nothing more can be done now.
    return reopen(state.gaveUp && trouble !== 'no_service' ? GIVE_UP_RETRY_MS : backOff);
  }
  if (state.rung < 0 && state.reopens < REOPENS[trouble] && !isCrashing) return reopen(backOff);
  if (HELPS[trouble].length === 0) return reopen(backOff);
  for (const step of HELPS[trouble]) {
    const rung = RECOVERY_STEPS.indexOf(step);
    if (rung <= state.rung) continue;
    if (step === 'reinitialise') return { step, delayMs: 0, state: { ...state, rung } };
    if (!isAllowed(step, state, limits, now)) continue;
    return { step, delayMs: 0, state: { ...state, rung, taken: [...state.taken, { step, at: now }] } };
  }
  // The last step helped for a while.
  if (seen.servedMs >= SERVED_MS)
    return { ...reopen(backOff), state: { ...NO_TROUBLE, taken: state.taken, reopens: 1 } };
  return {
    step: 'give_up',
    delayMs: trouble === 'no_service' ? 0 : GIVE_UP_RETRY_MS,
    state: { ...NO_TROUBLE, taken: state.taken, patientUntil: now + GIVE_UP_MS, gaveUp: true },
  };
}

/** Records that the device disappeared while it was in use, even if it only has to come back. */
export function lost(
  before: RecoveryState,
  seen: TroubleSeen,
): { state: RecoveryState; isCrashing: boolean } {
  const state = afterService(before, seen);
  return { state, isCrashing: state.losses.length >= LOSSES_MAX };
}

/** Records that the modem starts, after a step or because it was plugged in. It gets `patienceMs` to answer. */
export function starting(state: RecoveryState, now: number, patienceMs: number = BOOT_MS): RecoveryState {
  const rung = state.gaveUp ? -1 : state.rung;
  const patientUntil = Math.max(state.gaveUp ? 0 : state.patientUntil, now + patienceMs);
  return { ...state, rung, gaveUp: false, reopens: 0, patientUntil };
}

/** Records a restart by an operator. No limit applies to it, but it counts in the limits of later steps. */
export const restartRequested = (state: RecoveryState, now: number): RecoveryState => ({
  ...NO_TROUBLE,
  taken: [...state.taken, { step: 'restart', at: now }],
});

function afterService(before: RecoveryState, { now, servedMs, trouble }: TroubleSeen): RecoveryState {
  // A clock that was set back must not block steps, so times in the future do not count.
  const isRecent = (at: number): boolean => at <= now && now - at < HOUR_MS;
  const taken = before.taken.filter(({ at }) => isRecent(at));
  const patientUntil = Math.min(before.patientUntil, now + PATIENCE_MAX_MS);
  if (servedMs >= HEALTHY_MS) return { ...NO_TROUBLE, taken };
  const losses = [...before.losses.filter(isRecent), ...(trouble === 'port_gone' ? [now] : [])].slice(
    -LOSSES_MAX,
  );
  return { ...before, taken, patientUntil, losses, reopens: servedMs >= SERVED_MS ? 0 : before.reopens };
}

function isAllowed(
  step: LimitedStep,
  { taken }: RecoveryState,
  limits: RecoveryLimits,
  now: number,
): boolean {
  const times = taken.filter((each) => each.step === step);
  if (times.length >= limits[step]) return false;
  const last = times.at(-1);
  return last === undefined || now - last.at >= GAP_MS[step] * 2 ** (times.length - 1);
}
