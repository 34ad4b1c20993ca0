// One side of a call as the network sees it: a modem of the rack, or a far end.
import type { FarEndVoice } from './far-end-voice.ts';
import type { LegAudio } from './leg-audio.ts';

/** The side that ended a call. */
export type EndedBy = 'origin' | 'destination' | 'network';

/** The end of a call, as the network reports it to one leg. */
export interface CallEnd {
  /** Q.850. */
  cause: number;
  by: EndedBy;
  /** This leg ended it. */
  isOwn: boolean;
}

/** One side of a call. */
export interface CallLeg {
  /** Null for a far end. */
  readonly imei: string | null;
  /** The audio between modem and host; `undefined` for a far end. */
  readonly audio: LegAudio | undefined;
  /** The voice of a far end; `undefined` for a modem, which has its own clock. */
  readonly voice: FarEndVoice | undefined;
  /** The other side rings. Called on the origin. */
  onAlerting(): void;
  /** Called on both legs. */
  onAnswered(): void;
  /** Called on both legs. */
  onEnded(end: CallEnd): void;
  /** The other side pressed a key: its tones begin now. */
  onDtmf(digit: string): void;
}
