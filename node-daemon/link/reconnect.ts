// Decides when to connect again after a link ended or was refused. Pure.
import { backOffMs } from '#shared/back-off.ts';
import {
  APPROVAL_PENDING_STATUS,
  type Reconnect,
  reconnectAfterClose,
  reconnectAfterStatus,
} from '#shared/link/close.ts';
import { PROOF_LIFETIME_MS, SERVER_TIME_HEADER } from '#shared/link/proof.ts';
import { retryAfterMsOf } from '#shared/retry-after.ts';
import type { LinkEnd } from './link-socket.ts';

/** The shortest wait after a lost link: the nodes of an instance that died come to the others one after another, not all at once. */
const LOST_MS = { min: 50, max: 1_500 };
/** The first wait is short and random; later ones double it. */
const FIRST = { firstMinMs: 50, firstMaxMs: 250 };
/** A restart of the control plane takes one or two minutes at most. During that time waits are short … */
const RESTART_MS = 120_000;
const RESTART_CAP_MS = 3_000;
/** … and afterwards they grow to this. */
const CAP_MS = 30_000;
const SLOW_MS = 30_000;
/** A proxy may have sent the proof twice. The node tries this many new proofs before it accepts a 401. */
const FRESH_PROOFS_MAX = 3;
/** The operator may have restored an older database. */
const STOPPED_MS = 600_000;
const PENDING_MS = 1_000;
/** The node ignores a server's request for a longer wait. */
const RETRY_AFTER_MAX_MS = 60_000;
/** An error of the clock above this part of a proof's lifetime is corrected. */
const CLOCK_OFF_MS = PROOF_LIFETIME_MS / 6;

interface ReconnectState {
  /** It was a link with a welcome that ended, not an attempt to open one. */
  readonly isLost: boolean;
  /** Attempts since the last healthy link. */
  readonly attempt: number;
  /** 401s since the last welcome or long wait. */
  readonly proofsRefused: number;
  /** Time without a link. */
  readonly awayMs: number;
  /** Offset to add to this node's clock for the server's time. */
  readonly clockOffsetMs: number;
}

interface ReconnectPlan {
  readonly reconnect: Reconnect;
  readonly delayMs: number;
  readonly clockOffsetMs: number;
}

/** `random` is from 0 to 1. */
export function planReconnect(
  end: LinkEnd,
  state: ReconnectState,
  nowMs: number,
  random: number,
): ReconnectPlan {
  const { proofsRefused, clockOffsetMs } = state;
  const offset = serverOffset(end, nowMs);
  const isClockOff = offset !== undefined && Math.abs(offset - clockOffsetMs) > CLOCK_OFF_MS;
  const isProofRefused = end.refusal?.status === 401 && proofsRefused < FRESH_PROOFS_MAX;
  const reconnect = isClockOff || isProofRefused ? 'retry' : reconnectOf(end);
  // A person is about to approve the key: the node asks at the pace that the control plane names.
  const isPending = end.refusal?.status === APPROVAL_PENDING_STATUS;
  return {
    reconnect,
    delayMs: isPending
      ? Math.max(PENDING_MS, retryAfterMs(end)) * (1 + random)
      : Math.max(delayOf(reconnect, state, random), retryAfterMs(end) * (1 + random)),
    clockOffsetMs: isClockOff ? offset : clockOffsetMs,
  };
}

const reconnectOf = ({ code, refusal }: LinkEnd): Reconnect =>
  refusal === undefined ? reconnectAfterClose(code) : reconnectAfterStatus(refusal.status);

function delayOf(reconnect: Reconnect, { attempt, awayMs, isLost }: ReconnectState, random: number): number {
  switch (reconnect) {
    case 'retry': {
      const capMs = awayMs < RESTART_MS ? RESTART_CAP_MS : CAP_MS;
      const waitMs = backOffMs({ ...FIRST, capMs }, attempt, random);
      return isLost ? Math.max(waitMs, LOST_MS.min + random * (LOST_MS.max - LOST_MS.min)) : waitMs;
    }
    case 'slow':
      return SLOW_MS * (1 + random / 4);
    case 'stop':
      return STOPPED_MS * (1 + random / 4);
  }
}

/** Returns how far this node's clock is behind the server's, if the refusal of the proof contains the server's time. */
function serverOffset({ refusal }: LinkEnd, nowMs: number): number | undefined {
  if (refusal?.status !== 401) return undefined;
  const text = refusal.headers[SERVER_TIME_HEADER.toLowerCase()]?.toString() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) - nowMs : undefined;
}

/** Dates are not read, because the clock of this node may be wrong. */
const retryAfterMs = ({ refusal }: LinkEnd): number =>
  Math.min(retryAfterMsOf(refusal?.headers['retry-after']) ?? 0, RETRY_AFTER_MAX_MS);
