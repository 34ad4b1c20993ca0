// When to connect again after a link ended or was refused: pure, so that the waits can be read and tested.

import { backOffMs } from '#shared/back-off.ts';
import { type Reconnect, reconnectAfterClose, reconnectAfterStatus } from '#shared/link/close.ts';
import { PROOF_LIFETIME_MS, SERVER_TIME_HEADER } from '#shared/link/proof.ts';
import type { LinkEnd } from './node-link.ts';

/** The first wait is short, and no two nodes of a fleet wait the same. */
const FIRST = { firstMinMs: 50, firstMaxMs: 250 };
/** A restart is over within a minute or two. Until then the node waits only briefly … */
const RESTART_MS = 120_000;
const RESTART_CAP_MS = 3_000;
/** … and then a control plane that is away for long is not asked more often than this. */
const CAP_MS = 30_000;
const SLOW_MS = 30_000;
/** A proxy may have shown the proof twice: this many fresh ones are tried before a 401 is believed. */
const FRESH_PROOFS_MAX = 3;
/** The operator may have restored an older database. */
const STOPPED_MS = 600_000;
/** A server's wish for more than this is not believed. */
const RETRY_AFTER_MAX_MS = 60_000;
/** Of a proof's lifetime: a clock that is this far off is worth correcting. */
const CLOCK_OFF_MS = PROOF_LIFETIME_MS / 6;

interface ReconnectState {
  /** Attempts since a link was well. */
  readonly attempt: number;
  /** 401s since the last welcome or long wait. */
  readonly proofsRefused: number;
  /** For how long there was no link. */
  readonly awayMs: number;
  /** To be added to this node's clock for the server's time. */
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
  { attempt, proofsRefused, awayMs, clockOffsetMs }: ReconnectState,
  nowMs: number,
  random: number,
): ReconnectPlan {
  const offset = serverOffset(end, nowMs);
  const isClockOff = offset !== undefined && Math.abs(offset - clockOffsetMs) > CLOCK_OFF_MS;
  const isProofRefused = end.refusal?.status === 401 && proofsRefused < FRESH_PROOFS_MAX;
  const reconnect = isClockOff || isProofRefused ? 'retry' : reconnectOf(end);
  return {
    reconnect,
    delayMs: Math.max(delayOf(reconnect, attempt, awayMs, random), retryAfterMs(end) * (1 + random)),
    clockOffsetMs: isClockOff ? offset : clockOffsetMs,
  };
}

const reconnectOf = ({ code, refusal }: LinkEnd): Reconnect =>
  refusal === undefined ? reconnectAfterClose(code) : reconnectAfterStatus(refusal.status);

function delayOf(reconnect: Reconnect, attempt: number, awayMs: number, random: number): number {
  switch (reconnect) {
    case 'retry':
      return backOffMs({ ...FIRST, capMs: awayMs < RESTART_MS ? RESTART_CAP_MS : CAP_MS }, attempt, random);
    case 'slow':
      return SLOW_MS * (1 + random / 4);
    case 'stop':
      return STOPPED_MS * (1 + random / 4);
  }
}

/** How far this node's clock is behind the server's, where a refusal of the proof gives the server's time. */
function serverOffset({ refusal }: LinkEnd, nowMs: number): number | undefined {
  if (refusal?.status !== 401) return undefined;
  const text = refusal.headers[SERVER_TIME_HEADER.toLowerCase()]?.toString() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) - nowMs : undefined;
}

/** RFC 9110 §10.2.3, in seconds; a date is not understood. */
function retryAfterMs({ refusal }: LinkEnd): number {
  const text = refusal?.headers['retry-after'] ?? '';
  return /^\d{1,6}$/.test(text) ? Math.min(Number(text) * 1000, RETRY_AFTER_MAX_MS) : 0;
}
