// Why a call's stream was closed, from the close code.

const CALL_ENDED = 4000;
const CAUSE_MAX = 127;

export type StreamEndKind =
  | 'call_ended'
  | 'unauthorized'
  | 'call_not_found'
  | 'taken_over'
  /** Open it again: the call goes on. */
  | 'restarting'
  | 'refused'
  /** By this side, which hangs up; or without a word why. */
  | 'closed'
  /** The connection broke. Open it again within some seconds: the call goes on. */
  | 'lost';

export interface StreamEnd {
  kind: StreamEndKind;
  code: number;
  reason: string;
  /** ITU-T Q.850, of a call that has ended. */
  cause?: number;
}

const KINDS: Readonly<Record<number, StreamEndKind>> = {
  ...{ 4401: 'unauthorized', 4404: 'call_not_found', 4409: 'taken_over' },
  ...{ 1001: 'restarting', 1012: 'restarting', 1007: 'refused', 1008: 'refused', 1009: 'refused' },
  ...{ 1000: 'closed', 1005: 'closed' },
};

export function streamEndOf({ code, reason }: { code: number; reason: string }): StreamEnd {
  const cause = code - CALL_ENDED;
  if (cause > 0 && cause <= CAUSE_MAX) return { kind: 'call_ended', code, reason, cause };
  return { kind: KINDS[code] ?? 'lost', code, reason };
}
