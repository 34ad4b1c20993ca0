// What the network knows of somebody who has part in a call: a modem of the rack, or a far end.
import type { FarEndVoice } from './far-end-voice.ts';
import type { LegAudio } from './leg-audio.ts';

/** Who ended a call. */
export type EndedBy = 'origin' | 'destination' | 'network';

/** The end of a call as one of its legs is told. */
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
  /** What goes over the line between modem and host; `undefined` for a far end. */
  readonly audio: LegAudio | undefined;
  /** Ear and mouth of a far end; a modem has its own clock instead. */
  readonly voice: FarEndVoice | undefined;
  /** The other side rings: told to the origin. */
  onAlerting(): void;
  /** Told to both. */
  onAnswered(): void;
  /** Told to both. */
  onEnded(end: CallEnd): void;
  /** The other side pressed a key: its tones begin now. */
  onDtmf(digit: string): void;
}
