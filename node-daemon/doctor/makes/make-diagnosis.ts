// The questions that doctor asks a make of modems beyond the standard, and the meaning of the answers, as data.
import type { Outcome } from '../report/finding.ts';
import type { ModemView } from '../seen/modem-view.ts';

/** A test in which the modem gives back on its audio port the audio that is played there. */
export interface AudioLoop {
  readonly on: readonly string[];
  readonly off: readonly string[];
}

export interface MakeDiagnosis {
  /** Queries, each optional: a modem may not know it. */
  readonly questions: readonly string[];
  /** Judges the audio settings for calls. */
  readonly audioSettings: (modem: ModemView) => Outcome;
  /** Whether calls over LTE are switched on; `undefined` where the modem does not say. */
  readonly isVolteOn: (modem: ModemView) => boolean | undefined;
  /** How they are switched on, or what to do without. */
  readonly volteAdvice: string;
  /** Whether sentences of its GPS receiver are kept out of the audio port; `undefined` where the modem does not say. */
  readonly isGpsApart: (modem: ModemView) => boolean | undefined;
  readonly gpsAdvice: string;
  /** Absent where the make can do so in a call only. */
  readonly loop?: AudioLoop;
}
