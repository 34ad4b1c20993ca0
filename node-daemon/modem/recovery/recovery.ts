// The recovery ladder: which step is next for a modem in trouble. Pure.
//
//   reopen → reinitialise → radio → restart → usb_reset → power_cycle → give_up ──(long)──► reopen …
import { type BackOffLimits, backOffMs } from '#shared/back-off.ts';
import type { Trouble } from './trouble.ts';

/** Gentlest first. */
const RECOVERY_STEPS = [
  /** The port is closed and opened again, another AT port of the device where the first is silent. */
  'reopen',
  /** The modem's settings are put back to those of its maker. */
  'reinitialise',
  /** The radio is switched off and on (AT+CFUN). */
  'radio',
  /** The modem restarts by the command of its make. */
  'restart',
  'usb_reset',
  'power_cycle',
  /** Only reopened now and then, with an alarm for the operator. */
  'give_up',
] as const;
export type RecoveryStep = (typeof RECOVERY_STEPS)[number];

/** Steps that have a limit. */
type LimitedStep = 'radio' | 'restart' | 'usb_reset' | 'power_cycle';

/** The steps that are possible for one modem, and how often an hour; 0 where a step is impossible. */
export type RecoveryLimits = Readonly<Record<LimitedStep, number>>;

/** The steps that help against a trouble. */
const HELPS: Record<Trouble, readonly (LimitedStep | 'reinitialise')[]> = {
  port_gone: ['usb_reset', 'power_cycle'],
  silent: ['radio', 'restart', 'usb_reset', 'power_cycle'],
  faulty: ['reinitialise', 'radio', 'restart', 'usb_reset', 'power_cycle'],
  no_service: ['radio', 'restart', 'usb_reset', 'power_cycle'],
  restarted: [],
  sim_changed: [],
  requested: ['restart'],
};
/** How often the port is opened again before anything stronger. */
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
/** Between two equal steps at least this long, doubled with each of the last hour. */
const GAP_MS: Record<LimitedStep, number> = {
  radio: 30_000,
  restart: 60_000,
  usb_reset: 120_000,
  power_cycle: 300_000,
};

const HOUR_MS = 60 * 60 * 1000;
/** A modem that served this long is well: the next trouble begins at the gentlest step. */
export const WELL_MS = 60_000;
/** A modem that served this long can be served: opening it again begins with short waits. */
const SERVED_MS = 5_000;
/** A modem that has just got power answers only after some seconds. */
const BOOT_MS = 15_000;
const GIVE_UP_MS = 10 * 60_000;
const GIVE_UP_RETRY_MS = 60_000;
/** No trouble is waited out for longer. */
const PATIENCE_MAX_MS = GIVE_UP_MS;
/** So many times within an hour a modem that was never well may lose its port: then it crashes again and again. */
const LOSSES_MAX = 5;

/** The history of the troubles of one modem. Times in ms since the Unix epoch. */
export interface RecoveryState {
  /** The strongest step so far, as a position in `RECOVERY_STEPS`; -1 for none. */
  readonly rung: number;
  readonly reopens: number;
  /** Until then the port is only opened again: the modem starts, or was given up. */
  readonly patientUntil: number;
  readonly gaveUp: boolean;
  /** Limited steps of the last hour. */
  readonly taken: readonly { readonly step: LimitedStep; readonly at: number }[];
  /** When its port went within the last hour, since the modem was well. */
  readonly losses: readonly number[];
}

/** Nothing has happened yet. */
export const NO_TROUBLE: RecoveryState = {
  rung: -1,
  reopens: 0,
  patientUntil: 0,
  gaveUp: false,
  taken: [],
  losses: [],
};

/** A trouble, and the facts known when it comes. */
export interface TroubleSeen {
  readonly trouble: Trouble;
  /** Ms since the Unix epoch. */
  readonly now: number;
  /** How long the modem was in service before. */
  readonly servedMs: number;
  /** From 0 to 1: chance in the waits. */
  readonly random: number;
}

/** The decision: wait, take the step, and keep the state. */
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
  // A device that keeps coming and going is always starting: no patience helps it.
  const isCrashing = !state.gaveUp && trouble === 'port_gone' && state.losses.length >= LOSSES_MAX;
  if (now < state.patientUntil && !isCrashing) {
    // Without a network the modem is served as well as it can be.
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
  // The last step did help, if not for long.
  if (seen.servedMs >= SERVED_MS)
    return { ...reopen(backOff), state: { ...NO_TROUBLE, taken: state.taken, reopens: 1 } };
  return {
    step: 'give_up',
    delayMs: trouble === 'no_service' ? 0 : GIVE_UP_RETRY_MS,
    state: { ...NO_TROUBLE, taken: state.taken, patientUntil: now + GIVE_UP_MS, gaveUp: true },
  };
}

/** The device went away while it was in use: remembered, though all it may need is to come back. */
export function lost(
  before: RecoveryState,
  seen: TroubleSeen,
): { state: RecoveryState; isCrashing: boolean } {
  const state = afterService(before, seen);
  return { state, isCrashing: state.losses.length >= LOSSES_MAX };
}

/** The modem starts, by a step of ours or because it was plugged in: it gets `patienceMs` to answer. */
export function starting(state: RecoveryState, now: number, patienceMs: number = BOOT_MS): RecoveryState {
  const rung = state.gaveUp ? -1 : state.rung;
  const patientUntil = Math.max(state.gaveUp ? 0 : state.patientUntil, now + patienceMs);
  return { ...state, rung, gaveUp: false, reopens: 0, patientUntil };
}

/** An operator has the modem restarted: no limit holds that up, and the limits of later steps know of it. */
export const restartRequested = (state: RecoveryState, now: number): RecoveryState => ({
  ...NO_TROUBLE,
  taken: [...state.taken, { step: 'restart', at: now }],
});

function afterService(before: RecoveryState, { now, servedMs, trouble }: TroubleSeen): RecoveryState {
  // A clock that was set back must not stop anything: nothing was done in the future.
  const isRecent = (at: number): boolean => at <= now && now - at < HOUR_MS;
  const taken = before.taken.filter(({ at }) => isRecent(at));
  const patientUntil = Math.min(before.patientUntil, now + PATIENCE_MAX_MS);
  if (servedMs >= WELL_MS) return { ...NO_TROUBLE, taken };
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
