// The queries that doctor sends to a make of modems beyond the standard, and how it reads the answers.
import { type Outcome, skipped } from '#shared/operator/findings.ts';
import type { ModemView } from '../seen/slot-view.ts';

/** Commands that make the modem loop the audio of its audio port back. */
export interface AudioLoop {
  readonly on: readonly string[];
  readonly off: readonly string[];
}

export interface MakeDiagnosis {
  /** Queries. A modem may not support each of them. */
  readonly questions: readonly string[];
  /** Judges the audio settings for calls. */
  readonly audioSettings: (modem: ModemView) => Outcome;
  /** Whether VoLTE is on; `undefined` if the modem does not report it. */
  readonly isVolteOn: (modem: ModemView) => boolean | undefined;
  /** How to turn VoLTE on, or what to do without it. */
  readonly volteAdvice: string;
  /** Whether GPS sentences are kept out of the audio port; `undefined` if the modem does not report it. */
  readonly isGpsApart: (modem: ModemView) => boolean | undefined;
  readonly gpsAdvice: string;
  /** Absent if the make loops audio in calls only. */
  readonly loop?: AudioLoop;
}

/** The diagnosis of a modem whose make is unknown: doctor sends it standard queries only. */
export const GENERIC_DIAGNOSIS: MakeDiagnosis = {
  questions: [],
  audioSettings: () => skipped('doctor knows no query for it on this make'),
  isVolteOn: () => undefined,
  volteAdvice: 'Turn VoLTE on as the manual describes, or use a SIM that may use 2G or 3G.',
  isGpsApart: () => undefined,
  gpsAdvice: 'Turn the GPS receiver off, or move its output to another port, as the manual describes.',
};
