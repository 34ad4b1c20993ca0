// Why a call's stream was closed, derived from the close code.
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';

const CALL_ENDED = 4000;
const CAUSE_MAX = 127;

/** The reason of 1000 after the end of a call: the cause, and its name. */
const NORMAL_END = /^(\d{1,3}) [a-z_]+$/;

type StreamEndKind =
  | 'call_ended'
  | 'unauthorized'
  | 'call_not_found'
  | 'taken_over'
  /** Open it again: the call continues. */
  | 'restarting'
  | 'refused'
  /** By this side, which hangs up; or by the service without a reason. */
  | 'closed'
  /** The connection broke. Open it again within some seconds: the call continues. */
  | 'lost';

export interface StreamEnd {
  kind: StreamEndKind;
  code: number;
  reason: string;
  /** ITU-T Q.850 cause of a call that has ended. */
  cause?: number;
}

const KINDS: Readonly<Record<number, StreamEndKind>> = {
  [STREAM_CLOSE.tokenEnded]: 'unauthorized',
  [STREAM_CLOSE.noCall]: 'call_not_found',
  [STREAM_CLOSE.replaced]: 'taken_over',
  [STREAM_CLOSE.goingAway]: 'restarting',
  [STREAM_CLOSE.restart]: 'restarting',
  [STREAM_CLOSE.invalidData]: 'refused',
  [STREAM_CLOSE.tooManyMessages]: 'refused',
  [STREAM_CLOSE.tooBig]: 'refused',
  [STREAM_CLOSE.normal]: 'closed',
  1005: 'closed',
};

export function streamEndOf({ code, reason }: { code: number; reason: string }): StreamEnd {
  const cause = code === STREAM_CLOSE.normal ? Number(NORMAL_END.exec(reason)?.[1] ?? 0) : code - CALL_ENDED;
  if (cause > 0 && cause <= CAUSE_MAX) return { kind: 'call_ended', code, reason, cause };
  return { kind: KINDS[code] ?? 'lost', code, reason };
}
